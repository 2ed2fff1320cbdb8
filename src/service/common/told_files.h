// Settles the remarks about files once the command has ended: those that no longer hold are removed.
#pragma once

#include <string>
#include <string_view>

#include "plan/plan.h"
#include "sandbox/io/outcome.h"

namespace hutch::service {

// Reads the files on the host. A changed text gets its difference.
void settle_told_files(sandbox::Outcome& outcome, const plan::SandboxPlan& plan);

// The lines that differ, without the common beginning and end; at most a screen of them, as whole lines for a terminal.
std::string short_diff(std::string_view before, std::string_view after);

}  // namespace hutch::service
