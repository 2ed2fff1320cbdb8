// hutch-helper's life: one connection, one sandbox that is an OS user, ended with whoever asked for it.
#pragma once

#include "base/unique_fd.h"

namespace hutch::helper {

// `caller` is the connection, to a person's hutch. Returns the exit code of the process; failures are told there.
int serve(UniqueFd caller);

}  // namespace hutch::helper
