// Whether a run may start in its current directory.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "plan/facts.h"
#include "service/common/request.h"

namespace hutch::service {

// Returns an error if the policy's "." makes the current directory writable, and that is a home, contains one, or
// contains other projects, unless `start_wide` says yes. An entry in projects.json permits it: somebody saved it.
Status check_start(const PlaceRequest& request, const plan::HostFacts& facts,
                   const std::function<bool(const std::string& what)>& start_wide);

}  // namespace hutch::service
