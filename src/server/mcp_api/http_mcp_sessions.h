// The MCP sessions that clients hold by HTTP: bounded, and gone when nobody uses them.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "sandbox/io/inbox.h"
#include "server/mcp/session.h"
#include "server/state/shared.h"

namespace hutch::server::http {

inline constexpr std::size_t kMcpSessionsMax = 256;
inline constexpr std::chrono::minutes kMcpIdle{30};

struct McpSession {
  std::string id;  // Mcp-Session-Id; empty: of a single request
  std::string agent;
  std::string agent_id;  // another agent may get the name later
  std::shared_ptr<sandbox::Inbox<std::string>> unasked;  // for a GET; an empty text is the end
  std::atomic<bool> streams{false};             // a GET is being served
  std::shared_ptr<mcp::Session> session;  // shared with who tells it of changes
  std::chrono::steady_clock::time_point used{};
};

// Any thread may use it.
class McpSessions {
 public:
  // One that is not listed.
  static Result<std::shared_ptr<McpSession>> make(Shared& shared, const std::string& agent);

  // Gives it an id. Code::kUnsupported where there are too many that are used.
  Status keep(const std::shared_ptr<McpSession>& session);
  std::shared_ptr<McpSession> find(const std::string& id);  // null: none
  bool close(const std::string& id);
  void close_all();

 private:
  void drop_idle();  // with the lock held

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<McpSession>> sessions_;
};

}  // namespace hutch::server::http
