// What whoever types can do about a daemon that does not start.
#pragma once

#include "base/result.h"
#include "host/state_dirs.h"

namespace hutch::client {

// The same error, with the remedy in its message where the kernel's reason has one that is known.
Error with_start_remedy(Error error, const host::StateDirs& dirs);

}  // namespace hutch::client
