// What the kernel counts for a user or for the whole machine, and how much of each count one sandbox gets.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "plan/facts.h"
#include "plan/plan.h"

namespace hutch::plan {

enum class QuotaHold {
  kRlimit,     // a limit of each process that the kernel compares with the user's count (getrlimit(2))
  kUserCount,  // a file of /proc/sys/user: the count of a user namespace, besides that of the namespaces above it
  kMount,      // an option of a mount
  kFilter,     // the calls that would take it are refused
  kNamespace,  // the sandbox's own namespace has a count of its own
  kAccounting,  // hutch counts itself
  kCgroup,     // memory of the kernel: only a cgroup bounds it, by --memory
  kNothing,    // hutch does not bound it
};

// One row for each count. `share` is the divisor of the host's own limit: 2 is a half. 0: `most` itself.
struct Quota {
  std::string_view name;  // of kUserCount: the file's
  QuotaHold hold = QuotaHold::kNothing;
  int resource = -1;  // kRlimit: its number (asm-generic/resource.h)
  std::uint64_t share = 0;
  std::uint64_t least = 0;  // what programs need; never more than the host's own limit
  std::uint64_t most = 0;
  std::string_view left;  // what is left for others, as docs/limits.md has it
};
std::span<const Quota> quotas();

// What a sandbox gets of one; absent where the machine does not tell its own limit.
std::optional<std::uint64_t> share_of(const Quota& quota, std::uint64_t host_limit);

// The limits of each command of a sandbox that isolates.
std::vector<ProcessLimit> process_limits(const HostFacts& facts);

// Where nothing isolates: what the person's own programs have.
std::vector<ProcessLimit> usual_process_limits(const HostFacts& facts);

std::vector<UserCount> user_counts(const HostFacts& facts);

// The most that all tmpfs of one sandbox hold together: the limit of its memory, or a half of the machine's where the
// person gives neither that nor a size of each. 0: each has its own size.
std::uint64_t tmpfs_bytes_max(const HostFacts& facts, const ResourceLimits& limits);

// Gives each step of `spacious` a size, so that they hold `bytes` together: /, /tmp, /dev/shm and all others together
// get equal parts.
void share_tmpfs_bytes(std::span<MountStep* const> spacious, std::uint64_t bytes);

// Of the devpts of a sandbox: kernel.pty.max counts those of all sandboxes together (Documentation/filesystems/devpts).
inline constexpr std::uint64_t kTerminalsMax = 128;

// One for each page, as the kernel's own default for a tmpfs of that size (tmpfs(5), nr_inodes): an empty file takes
// memory that `size` does not count.
inline constexpr std::uint64_t kTmpfsInodeBytes = 4096;
inline constexpr std::uint64_t kTmpfsInodesMin = 16384;

}  // namespace hutch::plan
