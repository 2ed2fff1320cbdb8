// What explain and check print.
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "plan/plan_text.h"
#include "service/explain.h"

namespace hutch::service {

namespace {

using json = nlohmann::ordered_json;

std::string_view name_of(policy::Access access) { return access == policy::Access::kRead ? "read" : "write"; }
std::string_view name_of(policy::HostVerdict verdict);
std::string_view name_of(const PathVerdict& verdict);
json path_json(const PathVerdict& verdict);
std::string_view name_of(policy::SocketVerdict verdict);
json host_json(const HostVerdict& verdict);
json socket_json(const SocketOutcome& outcome);
std::string dump(const json& object);

}  // namespace

std::string explanation_text(const Explanation& explanation) {
  std::string out;
  // Asked about names, the plan itself would only bury the answer.
  if (explanation.paths.empty() && explanation.hosts.empty()) {
    const Prepared& prepared = explanation.prepared;
    out += cat({"backend    ", prepared.backend, "\n", "policy     ", prepared.policy.source, "\n"});
    if (prepared.backend == "none")
      out += "           which isolates nothing: none of what follows about files is held\n";
    out += plan::plan_text(prepared.plan);
    out += "rules\n";
    const bool of_machine = prepared.backend == "vm";
    const bool by_kernel = prepared.backend == "user" || of_machine;
    if (of_machine) out += "  none about files: nothing of this machine's is there\n";
    if (by_kernel && !of_machine) out += "  none about files: what its user may, owners, modes and lists say\n";
    for (const policy::Rule& rule : by_kernel ? std::vector<policy::Rule>() : prepared.rules) {
      out +=
          cat({"  ", policy::name_of(rule.verb), " ", printable(rule.path, 4096), " (", policy::describe(rule), ")\n"});
    }
    out += network_text(prepared);
    if (!prepared.policy.notes.empty()) out += "policy keys\n";
    for (const std::string& note : prepared.policy.notes) out += cat({"  ", note, "\n"});
    return out;
  }
  for (const PathVerdict& verdict : explanation.paths) out += verdict_text(verdict) + "\n";
  for (const HostVerdict& verdict : explanation.hosts) out += verdict_text(verdict) + "\n";
  return out;
}

std::string explanation_json(const Explanation& explanation) {
  const Prepared& prepared = explanation.prepared;
  json rules = json::array();
  for (const policy::Rule& rule : prepared.rules) {
    rules.push_back(
        {{"verb", policy::name_of(rule.verb)}, {"path", rule.path}, {"text", rule.text}, {"where", rule.where}});
  }
  json paths = json::array();
  for (const PathVerdict& verdict : explanation.paths) paths.push_back(path_json(verdict));
  json hosts = json::array();
  for (const HostVerdict& verdict : explanation.hosts) hosts.push_back(host_json(verdict));
  return dump({{"backend", prepared.backend},
               {"policy", prepared.policy.source},
               {"policy_notes", prepared.policy.notes},
               {"plan", json::parse(plan::plan_json(prepared.plan))},
               {"rules", std::move(rules)},
               {"network", json::parse(network_json(prepared))},
               {"paths", std::move(paths)},
               {"hosts", std::move(hosts)}});
}

std::string verdict_text(const PathVerdict& verdict) {
  const std::string led = verdict.path == verdict.typed ? "" : cat({" (", printable(verdict.path, 4096), ")"});
  return cat({name_of(verdict), ": ", name_of(verdict.access), " ", printable(verdict.typed, 4096), led, ": ",
              verdict.rule, ": ", verdict.why});
}

std::string verdict_json(const PathVerdict& verdict) { return dump(path_json(verdict)); }

std::string verdict_text(const HostVerdict& verdict) {
  const bool v6 = verdict.host.find(':') != std::string::npos;
  const std::string target = cat({v6 ? "[" : "", printable(verdict.host), v6 ? "]" : "", ":",
                                  std::to_string(verdict.port), verdict.typed.ends_with("/udp") ? "/udp" : ""});
  const std::string led = target == verdict.typed ? "" : cat({" (", target, ")"});
  return cat({name_of(verdict.verdict), ": connect ", printable(verdict.typed), led, ": ", verdict.rule, ": ",
              printable(verdict.why)});
}

std::string verdict_text(const SocketOutcome& outcome) {
  const std::string led = outcome.path == outcome.typed ? "" : cat({" (", printable(outcome.path, 4096), ")"});
  return cat({name_of(outcome.verdict), ": socket ", printable(outcome.typed, 4096), led, ": ", outcome.rule, ": ",
              outcome.why});
}

std::string verdict_json(const SocketOutcome& outcome) { return dump(socket_json(outcome)); }

std::string verdict_json(const HostVerdict& verdict) { return dump(host_json(verdict)); }

namespace {

json path_json(const PathVerdict& verdict) {
  return {{"typed", verdict.typed},     {"path", verdict.path},        {"access", name_of(verdict.access)},
          {"allowed", verdict.allowed}, {"verdict", name_of(verdict)}, {"rule", verdict.rule},
          {"why", verdict.why}};
}

json socket_json(const SocketOutcome& outcome) {
  return {{"typed", outcome.typed},
          {"path", outcome.path},
          {"access", "socket"},
          {"allowed", outcome.verdict == policy::SocketVerdict::kAllow},
          {"verdict", name_of(outcome.verdict)},
          {"rule", outcome.rule},
          {"why", outcome.why}};
}

json host_json(const HostVerdict& verdict) {
  return {{"typed", verdict.typed},
          {"host", verdict.host},
          {"port", verdict.port},
          {"access", "connect"},
          {"allowed", verdict.verdict == policy::HostVerdict::kAllow},
          {"verdict", name_of(verdict.verdict)},
          {"rule", verdict.rule},
          {"why", verdict.why}};
}

std::string_view name_of(const PathVerdict& verdict) {
  return verdict.allowed ? "allowed" : verdict.asked ? "ask" : "denied";
}

std::string_view name_of(policy::SocketVerdict verdict) {
  switch (verdict) {
    case policy::SocketVerdict::kAllow: return "allowed";
    case policy::SocketVerdict::kDeny: return "denied";
    case policy::SocketVerdict::kAsk: return "ask";
  }
  return "";
}

std::string_view name_of(policy::HostVerdict verdict) {
  switch (verdict) {
    case policy::HostVerdict::kAllow: return "allowed";
    case policy::HostVerdict::kDeny: return "denied";
    case policy::HostVerdict::kAsk: return "ask";
  }
  return "";
}

std::string dump(const json& object) { return object.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace

}  // namespace hutch::service
