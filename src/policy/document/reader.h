// Reads policy files strictly: an unknown or twice written key, a wrong type or a rule that cannot hold is an error.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "policy/policy.h"

namespace hutch::policy {

// One whole policy. `source` is what messages call it, and becomes Policy::source.
Result<Policy> read_policy(std::string_view text, std::string_view source);

// projects.json: an object of absolute paths, each with a whole policy. The entry of the longest path that is
// `directory` or above it, or nothing. Only that entry is read as a policy; nothing is merged.
Result<std::optional<Policy>> read_project(std::string_view text, std::string_view source, std::string_view directory);

}  // namespace hutch::policy
