// hutch agent.
#include "cli/agent.h"

#include "base/text.h"
#include "cli/output.h"
#include "cli/own_daemon.h"
#include "sys/io.h"

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
  for (const char* key : {"allowedDomains", "deniedDomains"}) {
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
void tell_notes(const Value& result) {
  const Value* notes = member_of(result, "notes");
  const auto* list = notes != nullptr ? notes->get<Value::List>() : nullptr;
  if (list == nullptr) return;
  for (const Value& note : *list) {
    if (const auto* text = note.get<std::string>()) (void)sys::write_all(2, cat({"hutch: ", printable(*text), "\n"}));
  }
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
  Value::List settings(arguments.settings.begin(), arguments.settings.end());
  const auto result =
      daemon->call(cat({"agent.", arguments.action}), {{"agent", arguments.name}, {"settings", std::move(settings)}});
  if (!result) return complain(result.error());
  tell_notes(*result);
  if (arguments.form == service::OutputForm::kJson) return print(tool::json_text(*result) + "\n");
  if (arguments.action == "list") return print_agents(*result);
  if (arguments.action == "remove") return print_removed(*result, arguments.name);
  if (arguments.action == "show" || arguments.action == "create") return print_agent(*result);
  return 0;
}

}  // namespace hutch::cli
