// Limits of a sandbox: those that a person sets, and shares of the kernel's counts for a user (plan/quotas.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace hutch::plan {

// A limit of each command and its children (setrlimit(2)); it applies only where it is below their current limit.
struct ProcessLimit {
  int resource = 0;  // as the kernel numbers it (asm-generic/resource.h)
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
  bool operator==(const ProcessLimit&) const = default;
};

// A limit of a count of the sandbox's user namespace: a file of /proc/sys/user (namespaces(7)).
struct UserCount {
  std::string name;
  std::uint64_t most = 0;
  bool operator==(const UserCount&) const = default;
};

// Absent values are not limited. Sizes in bytes.
struct ResourceLimits {
  std::uint64_t memory_bytes = 0;
  std::uint64_t pids = 0;
  std::uint64_t processes = 0;  // the default where `pids` is not limited (plan/processes.h)
  std::uint64_t cpu_millis = 0;  // thousandths of one CPU
  std::uint64_t tmp_bytes = 0;
  std::uint64_t disk_bytes = 0;  // of the writable layer over an engine's image
  std::chrono::milliseconds timeout{0};  // wall clock
  std::chrono::milliseconds idle_timeout{0};  // since the last byte of output
  std::uint64_t output_bytes = 0;
  bool operator==(const ResourceLimits&) const = default;
};

}  // namespace hutch::plan
