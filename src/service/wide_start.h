// Whether a run may start where it was started.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "plan/facts.h"
#include "service/request.h"

namespace hutch::service {

// An error where the policy lets the current directory be written by ".", and that is a home, holds one, or holds other
// projects, unless `start_wide` says yes. Not where projects.json has an entry for it: somebody saved it.
Status check_start(const PlaceRequest& request, const plan::HostFacts& facts,
                   const std::function<bool(const std::string& what)>& start_wide);

}  // namespace hutch::service
