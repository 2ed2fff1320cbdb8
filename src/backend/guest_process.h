// The steps that all backends share to start a guest.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"

namespace hutch::backend {

struct GuestProcess {
  wire::Connection guest;
  sys::ChildProcess process;
};

// Starts `program` with the guest's end of a new stream as descriptor 0 and nothing else but `install`, in an empty
// environment, and admits it.
Result<GuestProcess> spawn_guest(const std::string& program, std::vector<std::string> arguments,
                                 std::vector<std::pair<int, int>> install, const StartOptions& options);

// Whether the supervisor has to be able to read what the guest itself asks of the kernel: the files of a sandbox that
// serves many commands are served from inside.
bool wants_readable_guest(const plan::SandboxPlan& plan, const StartOptions& options);

Status send_start(wire::Connection& guest, wire::Isolation isolation, const plan::SandboxPlan& plan,
                  const StartOptions& options);

// Sends the plan to a guest that has made its namespaces, or is making them, and takes over the init that it splits
// off.
Result<Instance> adopt_init(GuestProcess started, wire::Isolation isolation, const plan::SandboxPlan& plan,
                            const StartOptions& options);

// The next message of the guest, which must be there: an error when it is gone.
Result<wire::ToHost> receive_message(wire::Connection& guest);

}  // namespace hutch::backend
