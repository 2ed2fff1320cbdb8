// hutch explain: the plan of a sandbox, or which rule decides about paths and hosts.
#pragma once

#include <string>
#include <vector>

#include "service/common/request.h"

namespace hutch::cli {

// The exit code: 0, or 125 where there is no plan.
int explain(const service::PlaceRequest& place, service::OutputForm form, const std::vector<std::string>& names);

}  // namespace hutch::cli
