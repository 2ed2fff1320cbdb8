// What a failure to look at a path says.
#pragma once

#include <cerrno>

#include "base/result.h"

namespace hutch::host {

// That nothing is there, or nothing that this user, and so the sandbox, can reach. Any other failure says nothing of
// the path: what counted as absent would be neither hidden nor protected.
inline bool is_out_of_reach(const Error& error) {
  return error.sys_errno == ENOENT || error.sys_errno == ENOTDIR || error.sys_errno == EACCES;
}

}  // namespace hutch::host
