// The policy behind NativeSandbox.
#pragma once

#include <hutch/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"
#include "policy/policy.h"

namespace hutch::api {

// For the user of that number: root could read the credentials of everybody. Relative paths start from `cwd`.
Result<policy::Policy> native_policy(const NativeSandbox& native, std::uint32_t uid, const std::string& cwd);

}  // namespace hutch::api
