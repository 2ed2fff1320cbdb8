// How many processes a sandbox may have where nobody says anything.
#pragma once

#include <cstdint>

#include "plan/facts.h"

namespace hutch::plan {

// A command that makes processes without end would otherwise have all that its user, or the machine, can have.
inline constexpr std::uint64_t kProcessesDefault = 4096;
// In a container, which is one agent's, and held by the engine.
inline constexpr std::uint64_t kContainerProcessesDefault = 512;

enum class Stay { kForOneCommand, kForMany };

// 0: none, because nothing could hold it without holding others too, or what holds it takes longer than a command.
// RLIMIT_NPROC (getrlimit(2)) counts a user's processes in each user namespace apart since Linux 5.14, and those of
// user 0 never; for that one a cgroup holds it where the sandbox stays, on machines that have them.
std::uint64_t processes_default(const HostFacts& facts, Stay stay);

}  // namespace hutch::plan
