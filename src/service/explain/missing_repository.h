// Says where a directory's repository is, if git cannot find it in the sandbox.
#pragma once

#include <optional>

#include "plan/facts.h"
#include "sandbox/io/outcome.h"
#include "service/common/prepared.h"

namespace hutch::service {

// Why git found no repository in the command's directory, and what gives it one; absent if the sandbox has it.
std::optional<sandbox::Refusal> missing_repository(const Prepared& prepared, const plan::HostFacts& facts,
                                                   sandbox::AllowedBy by);

}  // namespace hutch::service
