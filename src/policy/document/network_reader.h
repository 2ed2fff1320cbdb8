// Reads the network section of a policy, whose keys and types the reader has checked by then.
#pragma once

#include <string_view>

#include "base/result.h"
#include "policy/policy.h"

namespace hutch::policy {

// `section` is the JSON of the value of "network".
Result<Network> read_network(std::string_view section);

}  // namespace hutch::policy
