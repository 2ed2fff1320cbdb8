// What the process gives up before it reads a byte of an archive.
#pragma once

#include <functional>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::unpack {

// Enters namespaces of its own, has `mapped` wait until somebody has mapped the ids, becomes root of them, and makes
// `directory` all that there is: no network, no other file, no program to start. The result is the directory, which is
// the root by then.
Result<UniqueFd> confine(int directory, const std::function<Status()>& mapped);

}  // namespace hutch::unpack
