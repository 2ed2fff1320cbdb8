// The network of a bubblewrap: made from outside, while bubblewrap waits.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "plan/plan.h"
#include "sys/process/process.h"
#include "wire/message.h"

namespace hutch::backend {

// The process inside, as bubblewrap's --info-fd tells it.
Result<pid_t> child_of_bwrap(std::string_view info);

struct OutsideNetwork {
  wire::Network network;
  std::vector<UniqueFd> sockets;
};

// Has a process of hutch-guest enter the network namespace of `child` and make its network. It never has a capability
// inside: bubblewrap's own --cap-add would give it in a second user namespace, which does not own that network
// namespace, and what runs there could use it. `bwrap` is the process outside: its end is an error.
Result<OutsideNetwork> make_network_outside(const std::string& guest_program, const sys::ChildProcess& bwrap,
                                            pid_t child, const plan::SandboxPlan& plan);

}  // namespace hutch::backend
