// Where the daemon of a user is reached.
#pragma once

#include <string>

#include "host/state_dirs.h"

namespace hutch::host {

inline std::string daemon_socket(const StateDirs& dirs) { return dirs.runtime + "/hutch.sock"; }
inline std::string daemon_lock(const StateDirs& dirs) { return dirs.runtime + "/daemon.lock"; }

}  // namespace hutch::host
