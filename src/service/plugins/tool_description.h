// What a client is shown of each tool that an agent has: on the command line, by HTTP and by MCP.
#pragma once

#include <string>
#include <vector>

#include "service/agent/sandbox.h"
#include "tool/registry.h"
#include "tool/settings.h"
#include "tool/value.h"

namespace hutch::service {

class Plugins;

// A plugin's texts may be an agent's own, so the agent's secrets are taken out of them here, once for all clients.
struct ToolDescription {
  std::string name;
  std::string title;
  std::string description;
  tool::Class kind = tool::Class::kExec;
  std::string plugin{};  // its id; empty for a tool of hutch's own
  tool::Value input_schema{};
  tool::Value output_schema{};
};

tool::AgentSettings tool_settings(const AgentSandbox& agent);

// All tools of hutch's own, whatever an agent's settings are.
std::vector<ToolDescription> describe_tools();
// The tools that the agent may call: hutch's own, then those of its plugins.
std::vector<ToolDescription> describe_tools(AgentSandbox& agent, Plugins& plugins);

// A list of {name, title, description, class, plugin, inputSchema, outputSchema, annotations}.
tool::Value tool_list(const std::vector<ToolDescription>& tools);

}  // namespace hutch::service
