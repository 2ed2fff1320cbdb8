// The question whether an agent gets a system of its own for what is to be installed.
#pragma once

#include <string>

#include "base/result.h"
#include "client/daemon_client.h"

namespace hutch::cli {

// What an installation lacked: words of tool::kNeeds, and "registries" of a plugin's set-up. Empty: nothing that a
// person could give.
struct InstallNeed {
  std::string agent;
  std::string what;
  std::string set_up{};  // the command of the plugin, which would reach the registries; empty: there is none
};

// Asks once on the terminal, and gives what a yes allows; then the same installation is to be tried again. `failed` is
// the error of the first try, and the answer where nobody can be asked or the person declines.
Status give_what_is_needed(client::DaemonClient& daemon, const InstallNeed& need, const Error& failed);

}  // namespace hutch::cli
