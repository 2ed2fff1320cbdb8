// The MCP conversations that are about each agent.
#include "server/mcp/audience.h"

namespace hutch::server {

void McpAudience::add(const std::string& agent, const std::shared_ptr<mcp::Session>& session) {
  const std::scoped_lock lock(mutex_);
  std::vector<std::weak_ptr<mcp::Session>>& sessions = sessions_[agent];
  std::erase_if(sessions, [](const auto& one) { return one.expired(); });
  sessions.push_back(session);
}

// Without the lock while they are told: a conversation that ends here is ended by this thread.
void McpAudience::tools_changed(const std::string& agent) {
  for (const auto& session : those_of(agent)) session->tools_changed();
}

void McpAudience::artifacts_changed(const std::string& agent) {
  for (const auto& session : those_of(agent)) session->artifacts_changed();
}

std::vector<std::shared_ptr<mcp::Session>> McpAudience::those_of(const std::string& agent) {
  std::vector<std::shared_ptr<mcp::Session>> found;
  const std::scoped_lock lock(mutex_);
  const auto known = sessions_.find(agent);
  if (known == sessions_.end()) return found;
  std::erase_if(known->second, [](const auto& one) { return one.expired(); });
  for (const auto& weak : known->second) {
    if (auto session = weak.lock()) found.push_back(std::move(session));
  }
  if (known->second.empty()) sessions_.erase(known);
  return found;
}

}  // namespace hutch::server
