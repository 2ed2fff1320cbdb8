// Who may call which tool, and the way of a call.
#include "tool/registry.h"

#include <algorithm>

#include "base/text.h"
#include "tool/table.h"

namespace hutch::tool {

namespace {

constexpr std::string_view kPluginTool = "sandbox_plugin_register";

std::optional<Envelope> check_permission(const Tool& tool, const AgentSettings& settings);
Envelope unknown_tool(std::string_view name);

}  // namespace

std::vector<Tool> make_table() {
  std::vector<Tool> table = file_tools();
  std::ranges::move(command_tools(), std::back_inserter(table));
  return table;
}

std::span<const Tool> all_tools() {
  static const std::vector<Tool> kTable = make_table();
  return kTable;
}

const Tool* find_tool(std::string_view name) {
  const auto at = std::ranges::find(all_tools(), name, &Tool::name);
  return at == all_tools().end() ? nullptr : &*at;
}

std::vector<const Tool*> offered_tools(const AgentSettings& settings) {
  std::vector<const Tool*> offered;
  for (const Tool& tool : all_tools()) {
    if (!check_permission(tool, settings)) offered.push_back(&tool);
  }
  return offered;
}

std::string_view name_of(Class kind) {
  switch (kind) {
    case Class::kReadOnly: return "read-only";
    case Class::kWrite: return "write";
    case Class::kExec: return "exec";
  }
  return "exec";
}

Annotations annotations(Class kind) {
  switch (kind) {
    case Class::kReadOnly: return {.read_only = true, .idempotent = true};
    case Class::kWrite: return {.destructive = true};
    case Class::kExec: return {.destructive = true, .open_world = true};
  }
  return {.destructive = true, .open_world = true};
}

Envelope call_tool(std::string_view name, std::string_view arguments_json, CallContext& context) {
  const Tool* tool = find_tool(name);
  if (tool == nullptr) return unknown_tool(name);
  const auto answer = [&]() -> Envelope {
    if (std::optional<Envelope> refused = check_permission(*tool, context.settings)) return std::move(*refused);
    std::expected<Arguments, Envelope> arguments = read_arguments(tool->parameters, arguments_json);
    if (!arguments) return std::move(arguments).error();
    return tool->handler(Call{*arguments, context});
  };
  Envelope envelope = answer();
  envelope.tool = tool->name;
  return envelope;
}

namespace {

std::optional<Envelope> check_permission(const Tool& tool, const AgentSettings& settings) {
  if (tool.kind == Class::kReadOnly) return std::nullopt;
  const auto refusal = [&](std::string_view key) {
    return failure(Kind::kRejected,
                   cat({"`", tool.name, "` is switched off for this agent: its record has ", key,
                        "=false. The user can allow it with `hutch agent set ", settings.name, " ", key, "=true`."}));
  };
  if (settings.autonomous_exec == Permission::kNo) return refusal("autonomousExec.enabled");
  if (tool.name == kPluginTool && settings.plugin_create == Permission::kNo) {
    return refusal("autonomousExec.pluginCreate");
  }
  return std::nullopt;
}

Envelope unknown_tool(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Tool& tool : all_tools()) known.push_back(tool.name);
  const std::optional<std::string> near = nearest(name.substr(0, 64), known);
  Envelope envelope = failure(Kind::kToolNotFound, cat({"There is no tool `", printable(name, 64), "`.",
                                                        near ? cat({" Did you mean `", *near, "`?"}) : ""}));
  envelope.tool = printable(name, 64);
  return envelope;
}

}  // namespace

}  // namespace hutch::tool
