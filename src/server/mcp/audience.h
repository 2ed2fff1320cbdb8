// The MCP conversations that are about each agent: told when its tools, or what it handed out, are others.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/mcp/session.h"

namespace hutch::server {

// Any thread may use it. It does not hold a conversation: one that has ended is forgotten.
class McpAudience {
 public:
  void add(const std::string& agent, const std::shared_ptr<mcp::Session>& session);
  void tools_changed(const std::string& agent);
  void artifacts_changed(const std::string& agent);

 private:
  std::vector<std::shared_ptr<mcp::Session>> those_of(const std::string& agent);

  std::mutex mutex_;
  std::map<std::string, std::vector<std::weak_ptr<mcp::Session>>> sessions_;
};

}  // namespace hutch::server
