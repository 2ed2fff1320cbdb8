// One call of a tool, as the command line, MCP and HTTP ask for it.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

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

}  // namespace hutch::service
