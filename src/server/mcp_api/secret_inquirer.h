// Has whoever uses an MCP client open a page for each secret that the agent asks for while a call of theirs goes on.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "server/mcp/host.h"
#include "server/mcp_api/secret_page.h"
#include "server/state/attending.h"
#include "server/state/shared.h"

namespace hutch::server {

class SecretInquirer {
 public:
  // `options` are those of the call, with `show`; they have to live as long.
  SecretInquirer(Shared& shared, std::string agent, const mcp::CallOptions& options);
  ~SecretInquirer();  // tells the client of each page that is gone
  SecretInquirer(const SecretInquirer&) = delete;
  SecretInquirer& operator=(const SecretInquirer&) = delete;

 private:
  void take(const service::PromptEvent& event);
  void ask(const service::SecretPrompt& prompt);
  void tell_end(const std::string& id) const;

  Shared& shared_;
  const std::string agent_;
  const mcp::CallOptions& options_;
  std::map<std::string, std::unique_ptr<SecretPage>> pages_;  // by the prompt
  std::optional<Attending<service::PromptEvent>> attending_;  // last: its thread has all else
};

}  // namespace hutch::server
