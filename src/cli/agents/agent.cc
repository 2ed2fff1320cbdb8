// hutch agent.
#include "cli/agents/agent.h"

#include "base/text.h"
#include "cli/agents/agent_system.h"
#include "cli/terminal/output.h"
#include "cli/terminal/own_daemon.h"
#include "sys/io.h"
#include "tool/envelope.h"
#include "wire/daemon.h"

namespace hutch::cli {

namespace {

using client::Value;

std::string status_of(const Value& agent) {
  const std::string reason = text_in(agent, "reason");
  return reason.empty() ? text_in(agent, "status") : cat({text_in(agent, "status"), ": ", printable(reason)});
}

int print_agents(const Value& agents) {
  std::vector<std::vector<std::string>> rows = {{"NAME", "STATUS", "BACKEND", "DIR"}};
  const auto* list = agents.get<Value::List>();
  if (list == nullptr || list->empty()) return print("no agents yet; hutch agent create NAME makes one\n");
  for (const Value& agent : *list) {
    const std::string backend = text_in(agent, "backend");
    rows.push_back({text_in(agent, "name"), status_of(agent), backend.empty() ? "namespace" : backend,
                    printable(text_in(agent, "dir"))});
  }
  return print(table(rows));
}

int print_agent(const Value& agent) {
  std::vector<std::vector<std::string>> rows = {{"name", text_in(agent, "name")},
                                                {"id", text_in(agent, "id")},
                                                {"status", status_of(agent)},
                                                {"home", printable(text_in(agent, "home"))},
                                                {"output", printable(text_in(agent, "output"))}};
  for (const char* key : {"backend", "image", "dir", "policy", "network"}) {
    if (!text_in(agent, key).empty()) rows.push_back({key, printable(text_in(agent, key))});
  }
  for (const char* key : {"allowedDomains", "deniedDomains", "allowRead", "allowWrite"}) {
    const Value* member = member_of(agent, key);
    const auto* list = member != nullptr ? member->get<Value::List>() : nullptr;
    if (list != nullptr && !list->empty()) rows.push_back({key, printable(tool::json_text(*member))});
  }
  for (const char* key : {"limits", "autonomousExec", "resources"}) {
    if (const Value* member = member_of(agent, key)) rows.push_back({key, tool::json_text(*member)});
  }
  return print(table(rows));
}

// On stderr: what whoever reads the answer as JSON has in it as well.
void tell_list(const Value& result, std::string_view key) {
  const Value* notes = member_of(result, key);
  const auto* list = notes != nullptr ? notes->get<Value::List>() : nullptr;
  if (list == nullptr) return;
  for (const Value& note : *list) {
    if (const auto* text = note.get<std::string>()) (void)sys::write_all(2, cat({"hutch: ", printable(*text), "\n"}));
  }
}

// What the package manager says, as it comes.
Status pass_output(const Value& event) {
  const std::string bytes = TRY(wire::bytes_of_text(text_in(event, "output")));
  std::vector<std::string> lines;
  for (std::string_view line : split(bytes, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(printable(line, bytes.size()));
  }
  return sys::write_all(2, join(lines, "\n"));
}

Result<Value> install_packages(client::DaemonClient& daemon, const AgentArguments& arguments) {
  const auto on_event = [&](const Value& event) -> Status {
    return arguments.form == service::OutputForm::kJson ? Status() : pass_output(event);
  };
  const auto call = [&] {
    Value::List names(arguments.settings.begin(), arguments.settings.end());
    return daemon.call("agent.install", {{"agent", arguments.name}, {"settings", std::move(names)}}, on_event);
  };
  Value envelope = TRY(call());
  const std::string needs = text_in(envelope, tool::kNeeds);
  if (needs.empty()) return envelope;
  TRY(give_what_is_needed(daemon, {arguments.name, needs}, Error::unsupported(text_in(envelope, "message"))));
  return call();
}

// Exit code 1 where the package manager failed.
int print_installed(client::DaemonClient& daemon, const AgentArguments& arguments) {
  const auto envelope = install_packages(daemon, arguments);
  if (!envelope) return complain(envelope.error());
  const bool ok = truth_in(*envelope, "ok");
  if (arguments.form == service::OutputForm::kJson) {
    const int printed = print(tool::json_text(*envelope) + "\n");
    return printed != 0 || ok ? printed : 1;
  }
  if (!ok) {
    (void)complain(Error{Code::kSystem, 0, text_in(*envelope, "message")});
    return 1;
  }
  tell_list(*envelope, "warnings");
  return print(cat({"installed for agent ", arguments.name, ": ", join(arguments.settings, ", "), "\n"}));
}

int print_removed(const Value& result, const std::string& agent) {
  std::string text;
  const Value* deleted = member_of(result, "deleted");
  const auto* list = deleted != nullptr ? deleted->get<Value::List>() : nullptr;
  if (list != nullptr) {
    for (const Value& path : *list) {
      if (const auto* name = path.get<std::string>()) text += cat({"deleted ", printable(*name), "\n"});
    }
  }
  const Value* existed = member_of(result, "existed");
  const bool* was_there = existed != nullptr ? existed->get<bool>() : nullptr;
  if (was_there == nullptr || !*was_there) return print(cat({"there was no agent ", agent, "\n"}));
  if (text.empty()) return print(cat({"removed agent ", agent, "; the files of its OS user stay\n"}));
  return print(text);
}

}  // namespace

int agent(const AgentArguments& arguments) {
  auto daemon = own_daemon();
  if (!daemon) return complain(daemon.error());
  if (arguments.action == "install") return print_installed(*daemon, arguments);
  Value::List settings(arguments.settings.begin(), arguments.settings.end());
  const auto result =
      daemon->call(cat({"agent.", arguments.action}), {{"agent", arguments.name}, {"settings", std::move(settings)}});
  if (!result) return complain(result.error());
  tell_list(*result, "notes");
  if (arguments.form == service::OutputForm::kJson) return print(tool::json_text(*result) + "\n");
  if (arguments.action == "list") return print_agents(*result);
  if (arguments.action == "remove") return print_removed(*result, arguments.name);
  if (arguments.action == "show" || arguments.action == "create") return print_agent(*result);
  return 0;
}

}  // namespace hutch::cli
