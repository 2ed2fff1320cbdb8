// A tool called for an agent.
#include "service/call_tool.h"

#include "service/sandbox_place.h"
#include "service/task_tool.h"
#include "tool/registry.h"

namespace hutch::service {

namespace {

using tool::Permission;
using tool::Value;

constexpr std::string_view kStarting =
    "Sandbox is still initializing. Real sandbox tools will register on the next turn. Reply without sandbox tools, or "
    "wait and try again.";

Value value_of(const tool::Tool& tool) {
  const tool::Annotations hints = tool::annotations(tool.kind);
  return Value(Value::Object{{"name", tool.name},
                             {"title", tool.title},
                             {"description", tool.description},
                             {"class", tool::name_of(tool.kind)},
                             {"inputSchema", tool::input_schema(tool.parameters)},
                             {"outputSchema", tool::output_schema(tool.results)},
                             {"annotations", Value::Object{{"readOnlyHint", hints.read_only},
                                                           {"destructiveHint", hints.destructive},
                                                           {"idempotentHint", hints.idempotent},
                                                           {"openWorldHint", hints.open_world}}}});
}

}  // namespace

tool::AgentSettings tool_settings(const AgentSandbox& agent) {
  const store::AutonomousExec given = agent.autonomous_exec();
  return {.name = agent.record().name,
          .autonomous_exec = given.enabled ? Permission::kYes : Permission::kNo,
          .plugin_create = given.plugin_create ? Permission::kYes : Permission::kNo,
          .commands_per_turn_max = static_cast<std::size_t>(given.max_commands_per_turn),
          .command_timeout = std::chrono::seconds(given.command_timeout)};
}

tool::Envelope call_tool(AgentSandbox& agent, tool::Limiters& limiters, const ToolCall& call) {
  const tool::AgentSettings settings = tool_settings(agent);
  SandboxPlace place(agent, settings.command_timeout, call.stop);
  tool::CallContext context{.place = place, .settings = settings, .limiters = limiters};
  context.turn = call.turn;
  context.on_output = call.on_output;
  context.stop = call.stop;
  if (call.tasks != nullptr) {
    context.run_task = [&](const tool::TaskWish& wish) { return run_task(*call.tasks, settings.name, wish, call); };
  }
  tool::Envelope envelope = tool::call_tool(call.name, call.arguments.empty() ? "{}" : call.arguments, context);
  if (!envelope.ok && place.was_starting()) {
    envelope = tool::failure(tool::Kind::kUnavailable, std::string(kStarting));
    envelope.retryable = true;
    envelope.tool = call.name;
  }
  if (envelope.ok && call.name == tool::kShareArtifact) agent.tell_artifacts_changed();
  return envelope;
}

Value tool_list(const AgentSandbox* agent) {
  Value::List list;
  if (agent == nullptr) {
    for (const tool::Tool& tool : tool::all_tools()) list.push_back(value_of(tool));
  } else {
    for (const tool::Tool* tool : tool::offered_tools(tool_settings(*agent))) list.push_back(value_of(*tool));
  }
  return Value(std::move(list));
}

}  // namespace hutch::service
