// The MCP sessions that clients hold by HTTP.
#include "server/mcp_api/http_mcp_sessions.h"

#include <algorithm>

#include "server/mcp_api/agent_tools.h"
#include "sys/files/journal.h"

namespace hutch::server::http {

namespace {

constexpr std::size_t kUnaskedMax = 1024;
constexpr std::size_t kMcpSessionIdBytes = 16;

void end_session(McpSession& session) {
  session.session->close();
  session.unasked->add("");
}

}  // namespace

Result<std::shared_ptr<McpSession>> McpSessions::make(Shared& shared, const std::string& agent) {
  auto made = std::make_shared<McpSession>();
  made->agent = agent;
  made->agent_id = TRY(shared.agents.show(agent)).record.id;
  made->unasked = TRY(sandbox::Inbox<std::string>::make(kUnaskedMax));
  made->session = std::make_shared<mcp::Session>(
      std::make_shared<AgentTools>(shared, agent),
      mcp::Session::Settings{.server = mcp_server_info(shared, agent),
                             .execute = [&shared](std::function<void()> work) { shared.workers.run(std::move(work)); },
                             .unasked = [unasked = made->unasked](std::string text) { unasked->add(std::move(text)); },
                             .parked = shared.mcp_parked});
  shared.mcp_audience.add(agent, made->session);
  return made;
}

Status McpSessions::keep(const std::shared_ptr<McpSession>& session) {
  session->id = TRY(sys::random_hex(kMcpSessionIdBytes));
  const std::scoped_lock lock(mutex_);
  drop_idle();
  if (sessions_.size() >= kMcpSessionsMax) {
    auto oldest = sessions_.end();
    for (auto one = sessions_.begin(); one != sessions_.end(); ++one) {
      const bool idle = one->second.use_count() == 1;
      if (idle && (oldest == sessions_.end() || one->second->used < oldest->second->used)) oldest = one;
    }
    if (oldest == sessions_.end()) return fail(Error::unsupported("too many MCP sessions"));
    end_session(*oldest->second);
    sessions_.erase(oldest);
  }
  session->used = std::chrono::steady_clock::now();
  sessions_.emplace(session->id, session);
  return {};
}

std::shared_ptr<McpSession> McpSessions::find(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  drop_idle();
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return nullptr;
  found->second->used = std::chrono::steady_clock::now();
  return found->second;
}

bool McpSessions::close(const std::string& id) {
  std::shared_ptr<McpSession> leaving;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return false;
    leaving = std::move(found->second);
    sessions_.erase(found);
  }
  end_session(*leaving);
  return true;
}

void McpSessions::close_all() {
  std::map<std::string, std::shared_ptr<McpSession>> all;
  {
    const std::scoped_lock lock(mutex_);
    all.swap(sessions_);
  }
  for (const auto& [id, session] : all) end_session(*session);
}

// Whoever serves a request of it, a stream among them, holds it too.
void McpSessions::drop_idle() {
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(sessions_, [&](const auto& entry) {
    if (entry.second.use_count() > 1 || now - entry.second->used < kMcpIdle) return false;
    end_session(*entry.second);
    return true;
  });
}

}  // namespace hutch::server::http
