// hutch run: one command in a sandbox.
#pragma once

#include "service/common/request.h"

namespace hutch::cli {

// The exit code: the command's own, 124 for a timeout, 125 for hutch's own failure, 126, 127, or 128+n.
int run(service::RunRequest request);

}  // namespace hutch::cli
