// Limits of a process and of what it starts: getrlimit(2), setrlimit(2).
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"

namespace hutch::sys {

enum class Resource { kProcesses, kAddressSpace, kCoreSize };
Status limit_resource(Resource resource, std::uint64_t value);

struct ProcessLimit {
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
};
// Reads this process's limit; `resource` is the kernel's number. `lower_limit` keeps a limit that is already lower.
Result<ProcessLimit> limit_of(int resource);
Status lower_limit(int resource, ProcessLimit to);

// As much of what ends a process, or holds it up, as a service has (systemd.exec(5)), whoever started this one. An
// error where that is more than this process may have (CAP_SYS_RESOURCE).
Status lift_limits();

// How far this process could raise its own limits (getrlimit(2)).
struct HardLimits {
  std::uint64_t open_files = 0;
  std::optional<std::uint64_t> processes;  // absent: not limited
};
Result<HardLimits> hard_limits();

}  // namespace hutch::sys
