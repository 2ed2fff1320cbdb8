// A process's output and end, as the public API gives them.
#pragma once

#include <hutch/types.h>

#include "sandbox/resident/process.h"
#include "sandbox/resident/resident.h"

namespace hutch::api {

// Hands on what the process writes, waits for its end, and ends it when that is asked for.
CommandResult follow(sandbox::Resident& resident, const std::shared_ptr<sandbox::Process>& process,
                     const CommandOptions& options);

ProcessOutput output_of(const sandbox::Process& process);

// Before anything was run.
CommandResult aborted_result();

}  // namespace hutch::api
