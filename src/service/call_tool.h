// A tool called for an agent: by the command line, by MCP, by HTTP.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "service/agent_sandbox.h"
#include "tool/envelope.h"
#include "tool/limiters.h"
#include "tool/place.h"

namespace hutch::service {

class AgentService;
class Plugins;
class Tasks;

struct ToolCall {
  std::string name;
  std::string arguments;  // JSON; empty: {}
  std::string turn{};     // as the client names it
  std::function<void(tool::Stream, std::string_view)> on_output{};
  std::stop_token stop{};
  Tasks* tasks = nullptr;  // of the daemon; null: there are none
  AgentService* agents = nullptr;  // likewise, for the agent's secrets
  Plugins* plugins = nullptr;      // likewise
};

tool::Envelope call_tool(AgentSandbox& agent, tool::Limiters& limiters, const ToolCall& call);

// Whether the agent has one of that name, be it one that it may not call.
bool is_tool(const AgentSandbox& agent, Plugins* plugins, const std::string& name);

}  // namespace hutch::service
