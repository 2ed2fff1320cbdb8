// What was told of files while a command ran, once it has ended: what no longer holds is taken out.
#pragma once

#include <string>
#include <string_view>

#include "plan/plan.h"
#include "sandbox/outcome.h"

namespace hutch::service {

// Looks at the files on the host. A text that has changed gets its difference.
void settle_told_files(sandbox::Outcome& outcome, const plan::SandboxPlan& plan);

// The lines between what both texts begin and end with, at most a screen of them, as whole lines for a terminal.
std::string short_diff(std::string_view before, std::string_view after);

}  // namespace hutch::service
