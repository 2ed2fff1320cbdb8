// The mounts of a mount namespace as the kernel lists them: proc_pid_mountinfo(5).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hutch::sys {

struct MountEntry {
  std::uint64_t id = 0;
  std::uint64_t parent = 0;
  std::string device;  // "major:minor" of the file system
  std::string root;    // what of the file system is shown, as a path in it
  std::string point;   // where, as seen from the root of whoever opened the list
  std::string type;    // of the file system
  // Who has mounted it, of file systems that users may mount (fuse); as the kernel says.
  std::optional<std::uint32_t> user;
};

// What `mountinfo`, a descriptor of such a list, says now. Of namespaces with more than 4 MiB of it an error.
Result<std::vector<MountEntry>> mount_table(int mountinfo);
// A line that is none is left out.
std::vector<MountEntry> parse_mount_table(std::string_view text);

// Whether a path leads to the mount: at none of the directories above it, and not at its own place, another one lies.
bool is_reachable(const std::vector<MountEntry>& table, const MountEntry& mount);

}  // namespace hutch::sys
