// hutch check: whether a sandbox could read or write a path.
#pragma once

#include <string>

#include "service/request.h"

namespace hutch::cli {

// `access` is "read" or "write". The exit code: 0 allowed, 1 denied, 125 where that cannot be said.
int check(const service::PlaceRequest& place, service::OutputForm form, const std::string& access,
          const std::string& path);

}  // namespace hutch::cli
