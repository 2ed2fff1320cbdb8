// What is typed of hutch mcp.
#pragma once

#include <string>

#include "service/common/request.h"
#include "service/run/mcp_clients.h"

namespace hutch::cli {

struct McpArguments {
  enum class Consent { kAsked, kGiven, kShow };  // kShow: nothing is written
  std::string action;  // empty: serve; install, remove, list
  std::string agent;   // empty: that of the working directory
  std::string client;
  service::McpScope scope = service::McpScope::kUser;
  Consent consent = Consent::kAsked;
  service::OutputForm form = service::OutputForm::kText;
};

}  // namespace hutch::cli
