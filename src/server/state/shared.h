// What all connections of a daemon share. Any thread may use it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "server/e2b/desk.h"
#include "server/mcp/audience.h"
#include "server/protocol/workers.h"
#include "server/state/client_sessions.h"
#include "server/state/events.h"
#include "server/state/pool_desk.h"
#include "service/agent/agents.h"
#include "service/live/sessions.h"
#include "service/plugins/plugins.h"
#include "service/task/task.h"
#include "sys/process/process.h"
#include "tool/limiters.h"

namespace hutch::server {

namespace http {
class McpSessions;
}
namespace mcp {
class ParkedCalls;
}

struct Shared {
  service::AgentService& agents;
  PoolDesk& pool;
  service::Tasks& tasks;
  service::Plugins& plugins;
  tool::Limiters& limiters;
  Workers workers{};
  Events events{};
  McpAudience mcp_audience{};
  service::Sessions sessions{
      [](const service::TerminalSession& terminal) { return sys::start_of(terminal.leader) == terminal.started; }};
  std::shared_ptr<http::McpSessions> mcp_sessions{};  // of HTTP
  std::unique_ptr<E2bDesk> e2b{};
  std::unique_ptr<ClientSessions> client_sessions{};
  std::shared_ptr<mcp::ParkedCalls> mcp_parked{};
  std::function<void()> stop{};  // ends the daemon
  std::function<void(const std::string& line)> tell{};
  std::uint64_t upload_max = 0;  // bytes of a file that is written by HTTP
  std::atomic<int> connections{0};
  const std::chrono::system_clock::time_point started = std::chrono::system_clock::now();
};

}  // namespace hutch::server
