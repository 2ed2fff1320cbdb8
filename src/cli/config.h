// hutch config: the user's policies.
#pragma once

#include "service/configure.h"

namespace hutch::cli {

// The exit code: 1 where what was asked about is not set or not right, 125 where nothing was changed.
int config(const service::ConfigRequest& request);

}  // namespace hutch::cli
