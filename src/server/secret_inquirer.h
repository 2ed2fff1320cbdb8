// Has whoever uses an MCP client open a page for each secret that the agent asks for while a call of theirs goes on.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "server/attending.h"
#include "server/mcp_host.h"
#include "server/secret_page.h"
#include "server/shared.h"

namespace hutch::server {

class SecretInquirer {
 public:
  // `options` are those of the call, with `show`; they have to live as long.
  SecretInquirer(Shared& shared, std::string agent, const mcp::CallOptions& options);

 private:
  void take(const service::PromptEvent& event);
  void ask(const service::SecretPrompt& prompt);

  Shared& shared_;
  const std::string agent_;
  const mcp::CallOptions& options_;
  std::map<std::string, std::unique_ptr<SecretPage>> pages_;  // by the prompt
  Attending<service::PromptEvent> attending_;  // last: its thread has all else
};

}  // namespace hutch::server
