// Where the daemon of a user is reached, and the commands that run without it.
#pragma once

#include <string>

#include "host/state_dirs.h"

namespace hutch::host {

inline std::string daemon_socket(const StateDirs& dirs) { return dirs.runtime + "/hutch.sock"; }
inline std::string daemon_lock(const StateDirs& dirs) { return dirs.runtime + "/daemon.lock"; }

// The sockets of `hutch run`, one for each.
inline std::string runs_directory(const StateDirs& dirs) { return dirs.runtime + "/runs"; }

}  // namespace hutch::host
