// The headers of streamable HTTP that say again what is in a request's body.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/mcp/reader.h"

namespace hutch::server::mcp {

// As they came; absent where they did not.
struct HttpHeaders {
  std::optional<std::string> version;  // MCP-Protocol-Version
  std::optional<std::string> method;   // Mcp-Method
  std::optional<std::string> name;     // Mcp-Name
};

// Why the request is refused: from 2026-07-28 on they have to agree with the body, before that the version has to be
// one that there is.
std::optional<RpcError> check_headers(const Incoming& message, const HttpHeaders& headers);

// Every version, newest first.
std::vector<std::string> supported_versions();

}  // namespace hutch::server::mcp
