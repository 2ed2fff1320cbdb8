// The kernel's counts for a user or for the whole host, and the share of each that one sandbox gets.
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
  kMount,      // a mount option
  kFilter,     // the filter refuses the calls that would use it
  kNamespace,  // the sandbox's own namespace has its own count
  kAccounting,  // hutch counts itself
  kCgroup,     // kernel memory: only a cgroup bounds it, by --memory
  kNothing,    // hutch does not bound it
};

// One row for each count. `share` divides the host's limit: 2 is a half. 0 means `most` itself.
struct Quota {
  std::string_view name;  // for kUserCount: the name of the file
  QuotaHold hold = QuotaHold::kNothing;
  int resource = -1;  // kRlimit: its number (asm-generic/resource.h)
  std::uint64_t share = 0;
  std::uint64_t least = 0;  // the minimum that programs need; never more than the host's limit
  std::uint64_t most = 0;
  std::string_view left;  // the rest for others, in the words of docs/limits.md
};
std::span<const Quota> quotas();

// The share that a sandbox gets of one count; absent if neither the host nor the table limits it.
std::optional<std::uint64_t> share_of(const Quota& quota, std::uint64_t host_limit);

// The limits of each command of an isolating sandbox.
std::vector<ProcessLimit> process_limits(const HostFacts& facts);

// The limits without isolation: those that the person's own programs have.
std::vector<ProcessLimit> usual_process_limits(const HostFacts& facts);

std::vector<UserCount> user_counts(const HostFacts& facts);

// The most that all tmpfs of one sandbox hold together, in bytes: the limit of its memory. Without that limit and
// without a size for each, it is half of the host's memory. 0: each has its own size.
std::uint64_t tmpfs_bytes_max(const HostFacts& facts, const ResourceLimits& limits);

// Gives each step of `spacious` a size, so that they hold `bytes` together: /, /tmp, /dev/shm and all others together
// get equal parts.
void share_tmpfs_bytes(std::span<MountStep* const> spacious, std::uint64_t bytes);

// A tmpfs uses memory: all tmpfs of a sandbox together get at most `bytes`; 0: each keeps its size. `small` and
// `spacious` are indices of `steps`. A small one has a size of its own, and gets no more than an eighth.
void bound_tmpfs(std::vector<MountStep>& steps, std::span<const std::size_t> small,
                 std::span<const std::size_t> spacious, std::uint64_t bytes);

// For the devpts of a sandbox. kernel.pty.max counts the terminals of all sandboxes together
// (Documentation/filesystems/devpts).
inline constexpr std::uint64_t kTerminalsMax = 128;

// There is one inode for each page, as in the kernel's default for a tmpfs of that size (tmpfs(5), nr_inodes): an empty
// file takes memory that `size` does not count.
inline constexpr std::uint64_t kTmpfsInodeBytes = 4096;
inline constexpr std::uint64_t kTmpfsInodesMin = 16384;

}  // namespace hutch::plan
