// What all connections of a daemon share. Any thread may use it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "server/events.h"
#include "server/mcp_audience.h"
#include "server/workers.h"
#include "service/agents.h"
#include "tool/limiters.h"

namespace hutch::server {

namespace http {
class McpSessions;
}

struct Shared {
  service::AgentService& agents;
  tool::Limiters limiters{};
  Workers workers{};
  Events events{};
  McpAudience mcp_audience{};
  std::shared_ptr<http::McpSessions> mcp_sessions{};  // of HTTP
  std::function<void()> stop{};  // ends the daemon
  std::function<void(const std::string& line)> tell{};
  std::atomic<int> connections{0};
  const std::chrono::system_clock::time_point started = std::chrono::system_clock::now();
};

}  // namespace hutch::server
