// hutch check: whether a sandbox could read or write a path, or connect to a host.
#pragma once

#include <string>

#include "service/common/request.h"

namespace hutch::cli {

// `access` is "read", "write" or "connect". The exit code: 0 allowed, 1 denied or to be asked for, 125 where that
// cannot be said.
int check(const service::PlaceRequest& place, service::OutputForm form, const std::string& access,
          const std::string& target);

}  // namespace hutch::cli
