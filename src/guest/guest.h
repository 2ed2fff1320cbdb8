// The guest's life: take the plan, apply it, serve commands.
#pragma once

#include "base/unique_fd.h"

namespace hutch::guest {

// Returns the exit code of the process. Failures are told to the host on the stream.
int serve(UniqueFd stream);

}  // namespace hutch::guest
