// A tool called for an agent: by the command line, by MCP, by HTTP.
#pragma once

#include <string>

#include "service/agent/sandbox.h"
#include "service/task/tool_call.h"
#include "tool/envelope.h"
#include "tool/limiters.h"

namespace hutch::service {

class Plugins;

tool::Envelope call_tool(AgentSandbox& agent, tool::Limiters& limiters, const ToolCall& call);

// Whether the agent has one of that name, be it one that it may not call.
bool is_tool(const AgentSandbox& agent, Plugins* plugins, const std::string& name);

}  // namespace hutch::service
