// A sandbox that is an OS user, for a person who is not root: hutch-helper starts it and keeps it.
#pragma once

#include <cstdint>
#include <string>

#include "backend/backend.h"

namespace hutch::backend {

// Ends with this process, or with the instance. Code::kUnsupported with the remedy where there is no helper.
Result<Instance> start_by_helper(const plan::SandboxPlan& plan, const StartOptions& options);

// An OS user for that agent of this person's, made by hutch-helper: its number.
Result<std::uint32_t> make_user_by_helper(const std::string& guest_program, const std::string& agent);

}  // namespace hutch::backend
