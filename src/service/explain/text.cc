// What explain and check print.
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "plan/make/mounts.h"
#include "plan/make/plan_text.h"
#include "service/explain/explain.h"

namespace hutch::service {

namespace {

using ordered_json = nlohmann::ordered_json;

std::string_view word_for(policy::Access access) { return access == policy::Access::kRead ? "read" : "write"; }
std::string_view word_for(policy::HostVerdict verdict);
std::string_view word_for(const PathVerdict& verdict);
ordered_json path_json(const PathVerdict& verdict);
std::string_view word_for(policy::SocketVerdict verdict);
ordered_json host_json(const HostVerdict& verdict);
ordered_json socket_json(const SocketOutcome& outcome);
std::string home_text(const plan::SandboxPlan& plan);
std::string dump(const ordered_json& object);

}  // namespace

std::string explanation_text(const Explanation& explanation) {
  std::string out;
  // Asked about names, the plan itself would only bury the answer.
  if (explanation.paths.empty() && explanation.hosts.empty()) {
    const Prepared& prepared = explanation.prepared;
    out += cat({"backend    ", name_of(prepared.backend), "\n", "policy     ", prepared.policy.source, "\n"});
    if (prepared.backend == BackendKind::kNone)
      out += "           which isolates nothing: none of what follows about files is held\n";
    out += plan::plan_text(prepared.plan);
    out += home_text(prepared.plan);
    out += "rules\n";
    const bool of_machine = prepared.backend == BackendKind::kVm;
    const bool by_kernel = prepared.backend == BackendKind::kUser || of_machine;
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
  ordered_json rules = ordered_json::array();
  for (const policy::Rule& rule : prepared.rules) {
    rules.push_back(
        {{"verb", policy::name_of(rule.verb)}, {"path", rule.path}, {"text", rule.text}, {"where", rule.where}});
  }
  ordered_json paths = ordered_json::array();
  for (const PathVerdict& verdict : explanation.paths) paths.push_back(path_json(verdict));
  ordered_json hosts = ordered_json::array();
  for (const HostVerdict& verdict : explanation.hosts) hosts.push_back(host_json(verdict));
  return dump({{"backend", name_of(prepared.backend)},
               {"policy", prepared.policy.source},
               {"policy_notes", prepared.policy.notes},
               {"plan", parse_ordered_json(plan::plan_json(prepared.plan))},
               {"rules", std::move(rules)},
               {"network", parse_ordered_json(network_json(prepared))},
               {"paths", std::move(paths)},
               {"hosts", std::move(hosts)}});
}

std::string verdict_text(const PathVerdict& verdict) {
  const std::string led = verdict.path == verdict.typed ? "" : cat({" (", printable(verdict.path, 4096), ")"});
  return cat({word_for(verdict), ": ", word_for(verdict.access), " ", printable(verdict.typed, 4096), led, ": ",
              verdict.rule, ": ", verdict.why});
}

std::string verdict_json(const PathVerdict& verdict) { return dump(path_json(verdict)); }

std::string verdict_text(const HostVerdict& verdict) {
  const bool v6 = verdict.host.find(':') != std::string::npos;
  const std::string target = cat({v6 ? "[" : "", printable(verdict.host), v6 ? "]" : "", ":",
                                  std::to_string(verdict.port), verdict.typed.ends_with("/udp") ? "/udp" : ""});
  const std::string led = target == verdict.typed ? "" : cat({" (", target, ")"});
  return cat({word_for(verdict.verdict), ": connect ", printable(verdict.typed), led, ": ", verdict.rule, ": ",
              printable(verdict.why)});
}

std::string verdict_text(const SocketOutcome& outcome) {
  const std::string led = outcome.path == outcome.typed ? "" : cat({" (", printable(outcome.path, 4096), ")"});
  return cat({word_for(outcome.verdict), ": socket ", printable(outcome.typed, 4096), led, ": ", outcome.rule, ": ",
              outcome.why});
}

std::string verdict_json(const SocketOutcome& outcome) { return dump(socket_json(outcome)); }

std::string verdict_json(const HostVerdict& verdict) { return dump(host_json(verdict)); }

namespace {

std::string home_text(const plan::SandboxPlan& plan) {
  for (const std::string& entry : plan.environment) {
    if (!entry.starts_with("HOME=")) continue;
    const plan::MountStep* home = plan::private_home(plan, std::string_view(entry).substr(5));
    if (home == nullptr) continue;
    const std::string size = home->size_bytes == 0 ? "a half of the memory" : plan::size_text(home->size_bytes);
    return cat({"home\n  ", printable(home->target, 4096),
                " is the sandbox's own: empty at the start, writable, at most ", size, ", gone at the end\n"});
  }
  return {};
}

ordered_json path_json(const PathVerdict& verdict) {
  return {{"typed", verdict.typed},     {"path", verdict.path},         {"access", word_for(verdict.access)},
          {"allowed", verdict.allowed}, {"verdict", word_for(verdict)}, {"rule", verdict.rule},
          {"why", verdict.why}};
}

ordered_json socket_json(const SocketOutcome& outcome) {
  return {{"typed", outcome.typed},
          {"path", outcome.path},
          {"access", "socket"},
          {"allowed", outcome.verdict == policy::SocketVerdict::kAllow},
          {"verdict", word_for(outcome.verdict)},
          {"rule", outcome.rule},
          {"why", outcome.why}};
}

ordered_json host_json(const HostVerdict& verdict) {
  return {{"typed", verdict.typed},
          {"host", verdict.host},
          {"port", verdict.port},
          {"access", "connect"},
          {"allowed", verdict.verdict == policy::HostVerdict::kAllow},
          {"verdict", word_for(verdict.verdict)},
          {"rule", verdict.rule},
          {"why", verdict.why}};
}

std::string_view word_for(const PathVerdict& verdict) {
  return verdict.allowed ? "allowed" : verdict.asked ? "ask" : "denied";
}

std::string_view word_for(policy::SocketVerdict verdict) {
  switch (verdict) {
    case policy::SocketVerdict::kAllow: return "allowed";
    case policy::SocketVerdict::kDeny: return "denied";
    case policy::SocketVerdict::kAsk: return "ask";
  }
  return "";
}

std::string_view word_for(policy::HostVerdict verdict) {
  switch (verdict) {
    case policy::HostVerdict::kAllow: return "allowed";
    case policy::HostVerdict::kDeny: return "denied";
    case policy::HostVerdict::kAsk: return "ask";
  }
  return "";
}

std::string dump(const ordered_json& object) {
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace

}  // namespace hutch::service
