// Puts the questions of an agent's sandbox to whoever uses an MCP client, for as long as a call of theirs goes on.
#pragma once

#include <string>

#include "server/mcp/host.h"
#include "server/state/attending.h"
#include "server/state/shared.h"

namespace hutch::server {

class Inquirer {
 public:
  // `options` are those of the call, with the functions to ask by; they have to live as long.
  Inquirer(Shared& shared, std::string agent, const mcp::CallOptions& options);

 private:
  void take(const service::BoardEvent& event);

  Shared& shared_;
  const std::string agent_;
  const mcp::CallOptions& options_;
  Attending<service::BoardEvent> attending_;  // last: its thread has all else
};

// What a person is asked.
std::string message_of(const service::BoardEvent& event);

}  // namespace hutch::server
