// What this process gives up once it has read its files: it handles bytes from a sandbox and from the Internet.
#pragma once

#include "base/result.h"

namespace hutch::inspect {

// First thing: no core dumps, no tracing, nothing gained by exec.
Status protect_process();

// From here on no file can be opened, no socket made and no program started; threads can. Before there are any.
Status lock_down();

}  // namespace hutch::inspect
