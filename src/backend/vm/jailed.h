// Programs that serve a virtual machine, each in a sandbox of its own.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"

namespace hutch::backend::vm {

// The next message of a guest; what it says failed is the error.
Result<wire::ToHost> expect(wire::Connection& guest, std::string_view what);

// A program in a sandbox of its own, started; its streams are `streams`. `what` it is stands in errors.
Result<Instance> start_jailed(Backend& jails, const plan::SandboxPlan& jail, const StartOptions& options,
                              std::vector<std::string> arguments, const std::array<int, 3>& streams,
                              const std::string& what);

// An error of a machine with what stands on its console, a descriptor that does not block, behind it.
Status with_words_of(Status status, int console);

}  // namespace hutch::backend::vm
