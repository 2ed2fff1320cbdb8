// HostFacts: what this machine and this caller are, probed once and passed in, so that tests can lie about the host.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace hutch::plan {

enum class FileType { kAbsent, kFile, kDirectory, kSymlink, kOther };

// One name directly below "/".
struct RootEntry {
  std::string name;
  FileType type = FileType::kDirectory;
  std::string link;  // a symlink's text
};

enum class CgroupKind { kNone, kV1, kV2, kSystemdScope };

// Whether one way to isolate works here; `reason` is a sentence, `remedy` what to type or do. Both empty when it works.
struct Availability {
  bool available = false;
  std::string reason;
  std::string remedy;
};

// The OS user of all agents that have none of their own: hutch init makes it.
inline constexpr std::string_view kCommonUser = "hutch";

// The counts of a user namespace that the facts hold, named by their files in /proc/sys/user.
inline constexpr std::array<std::string_view, 4> kUserCounts = {"max_inotify_instances", "max_inotify_watches",
                                                                "max_fanotify_groups", "max_fanotify_marks"};
inline constexpr int kOpenFilesResource = 7;  // RLIMIT_NOFILE
inline constexpr int kResources = 16;  // RLIM_NLIMITS

struct HostFacts {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string user;  // the passwd name, or the number
  std::string home;  // canonical; "/nonexistent" where there is none that can be used
  std::string cwd;  // canonical, absolute
  std::string architecture = "x86_64";
  std::string kernel;  // uname -r
  std::vector<RootEntry> root;  // the names of "/"
  std::vector<std::string> proc_names;  // the names of /proc that are not numbers; for uid 0 alone
  int landlock_abi = 0;  // 0: none
  CgroupKind cgroup = CgroupKind::kNone;
  std::string cgroup_note;  // how limits are held, or why they cannot be by a cgroup
  std::vector<ProcessLimit> process_limits;  // of this process, at its start
  std::vector<UserCount> user_counts;  // those of kUserCounts that the kernel has
  std::uint64_t memory_bytes = 0;  // of the host; 0: unknown
  std::vector<std::string> store_dirs;  // hutch's own config, data and socket directories: never visible inside
};

}  // namespace hutch::plan
