// hutch in the configuration of a client of MCP: what would change, and changing it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/facts.h"
#include "service/run/mcp_clients.h"

namespace hutch::service {

struct McpInstallRequest {
  std::string client;
  McpScope scope = McpScope::kUser;
  std::string agent;  // empty: the one of the directory that the client starts it in
};

struct McpChange {
  std::string client;
  std::string file;    // canonical: the target, where it is a link
  std::string entry;   // of an installation: as it will be there, whoever wrote what else it says
  std::string before;  // empty where there is no file
  std::string after;
  bool there = false;  // the file
};

// Nothing is written. `environment` is the caller's, "K=V" each.
Result<McpChange> plan_mcp_install(const McpInstallRequest& request, const plan::HostFacts& facts,
                                   const std::vector<std::string>& environment);
Result<McpChange> plan_mcp_remove(const McpInstallRequest& request, const plan::HostFacts& facts,
                                  const std::vector<std::string>& environment);

// An error where the file is not what it was when that was planned.
Status apply_mcp_change(const McpChange& change);

struct McpClientRow {
  std::string client;
  std::string about;
  std::string file;  // the person's
  enum class State { kNoFile, kWithout, kWith, kUnreadable } state = State::kNoFile;
};
Result<std::vector<McpClientRow>> list_mcp_clients(const plan::HostFacts& facts,
                                                   const std::vector<std::string>& environment);

}  // namespace hutch::service
