// The Seatbelt profile that a caller names.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "policy/rules.h"

namespace hutch::api {

// A file that is there is the caller's own and stays as it is; else it is written, whole.
Status keep_seatbelt_profile(const std::string& path, const std::vector<policy::Rule>& rules);

}  // namespace hutch::api
