// An agent's tools as they are described to clients.
#include "service/plugins/tool_description.h"

#include "base/text.h"
#include "service/agent/secrets.h"
#include "service/common/scrubbed_value.h"
#include "service/plugins/plugins.h"
#include "service/plugins/tools.h"

namespace hutch::service {

namespace {

using tool::Permission;
using tool::Value;

ToolDescription description_of(const tool::Tool& tool) {
  return {.name = std::string(tool.name),
          .title = std::string(tool.title),
          .description = std::string(tool.description),
          .kind = tool.kind,
          .input_schema = tool::input_schema(tool.parameters),
          .output_schema = tool::output_schema(tool.results)};
}

ToolDescription description_of(const Plugins::OfferedTool& offered, const secret::Scrubber& scrubber) {
  const plugin::Recipe& recipe = offered.install->recipe;
  return {.name = offered.name(),
          .title = scrubber.scrub(cat({recipe.name, ": ", offered.tool().id})),
          .description = scrubber.scrub(offered.tool().description),
          .plugin = recipe.id,
          .input_schema = scrubbed(scrubber, plugin_input_schema(offered.tool())),
          .output_schema = plugin_output_schema()};
}

Value hints_of(tool::Class kind) {
  const tool::Annotations hints = tool::annotations(kind);
  return Value(Value::Object{{"readOnlyHint", hints.read_only},
                             {"destructiveHint", hints.destructive},
                             {"idempotentHint", hints.idempotent},
                             {"openWorldHint", hints.open_world}});
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

std::vector<ToolDescription> describe_tools() {
  std::vector<ToolDescription> described;
  for (const tool::Tool& tool : tool::all_tools()) described.push_back(description_of(tool));
  return described;
}

std::vector<ToolDescription> describe_tools(AgentSandbox& agent, Plugins& plugins) {
  std::vector<ToolDescription> described;
  for (const tool::Tool* tool : tool::offered_tools(tool_settings(agent))) described.push_back(description_of(*tool));
  const auto scrubber = agent.secrets().scrubber();
  for (const Plugins::OfferedTool& tool : plugins.offered(agent)) described.push_back(description_of(tool, *scrubber));
  return described;
}

Value tool_list(const std::vector<ToolDescription>& tools) {
  Value::List list;
  for (const ToolDescription& tool : tools) {
    Value::Object object{{"name", tool.name},
                         {"title", tool.title},
                         {"description", tool.description},
                         {"class", tool::name_of(tool.kind)},
                         {"inputSchema", tool.input_schema},
                         {"outputSchema", tool.output_schema},
                         {"annotations", hints_of(tool.kind)}};
    if (!tool.plugin.empty()) object["plugin"] = tool.plugin;
    list.emplace_back(std::move(object));
  }
  return Value(std::move(list));
}

}  // namespace hutch::service
