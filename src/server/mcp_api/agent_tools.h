// An agent's tools and what it handed out, as MCP serves them.
#pragma once

#include <string>
#include <vector>

#include "server/mcp/host.h"
#include "server/mcp/writer.h"
#include "server/state/shared.h"

namespace hutch::server {

// What the server says of itself to a client of that agent.
mcp::ServerInfo mcp_server_info(Shared& shared, const std::string& agent);

class AgentTools final : public mcp::ToolHost {
 public:
  AgentTools(Shared& shared, std::string agent) : shared_(shared), agent_(std::move(agent)) {}

  std::vector<mcp::ToolInfo> list() override;
  Result<mcp::CallAnswer> call(const std::string& name, const std::string& arguments_json,
                               const mcp::CallOptions& options) override;
  Result<std::vector<mcp::Artifact>> artifacts() override;
  Result<mcp::ArtifactContent> read_artifact(const std::string& uri) override;
  std::vector<mcp::Guide> guides() override;

 private:
  Shared& shared_;
  const std::string agent_;
};

}  // namespace hutch::server
