// A recipe in the user's editor: a new one from a skeleton with comments, or one of the library.
#pragma once

#include "cli/options/host_arguments.h"
#include "client/daemon_client.h"

namespace hutch::cli {

// What the library has of it afterwards.
Result<client::Value> edit_plugin(client::DaemonClient& daemon, const PluginArguments& arguments);

}  // namespace hutch::cli
