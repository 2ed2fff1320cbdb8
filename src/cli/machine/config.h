// hutch config: the user's policies.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/facts.h"
#include "service/run/configure.h"

namespace hutch::cli {

// The exit code: 1 where what was asked about is not set or not right, 125 where nothing was changed.
int config(const service::ConfigRequest& request);

inline constexpr std::string_view kSessionOn = "sandboxes are on for this session\n";
inline constexpr std::string_view kSessionOff = "sandboxes are off for this session\n";

// Everything that runs goes by what was saved. What holds from the next start on alone, a line each.
std::vector<std::string> spread_saved_policy(const plan::HostFacts& facts);

}  // namespace hutch::cli
