// Where hutch can make a cgroup for a sandbox: v2 where it is delegated, v1 as root, a systemd scope. cgroups(7).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plan/facts.h"

namespace hutch::host {

// What hutch limits with.
inline constexpr std::string_view kMemory = "memory";
inline constexpr std::string_view kPids = "pids";
inline constexpr std::string_view kCpu = "cpu";

struct CgroupPlace {
  plan::CgroupKind kind = plan::CgroupKind::kNone;
  // The controllers that there are, each with the directory to make a cgroup in. v2: the same directory for all.
  // v1: one for each hierarchy. Scope: the user manager's cgroup, in which systemd makes it.
  std::map<std::string, std::string> directories;
  // v2: controllers to write to `cgroup.subtree_control` of that directory first.
  std::vector<std::string> enable;
  std::string note =
      {};  // one sentence: how limits are held, or why they cannot be by a cgroup and what would change that
};

// One line of /proc/self/cgroup. v2 has no controllers in it.
struct CgroupMembership {
  std::set<std::string, std::less<>> controllers;
  bool is_v2 = false;
  std::string path;
};
std::vector<CgroupMembership> parse_memberships(std::string_view text);

// One mount of a cgroup file system in /proc/self/mountinfo.
struct CgroupMount {
  std::string root;   // the cgroup that is shown
  std::string point;  // where
  bool is_v2 = false;
  std::set<std::string, std::less<>> controllers;  // v1
};
std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo);

// What happened to the processes of a cgroup because of its limits.
struct CgroupEvents {
  std::uint64_t killed_for_memory = 0;
  std::uint64_t pids_refused = 0;
};

// Where the kernel counts that for the cgroup of a process, by the process's /proc/PID/cgroup and the mountinfo of who
// reads. Each is empty where it cannot be seen.
struct CgroupEventFiles {
  std::string memory;
  std::string pids;
};
CgroupEventFiles event_files(std::string_view memberships, std::string_view mountinfo);

// On this machine, of a process that is there: gone with the cgroup.
CgroupEventFiles event_files_of(std::uint32_t process);
CgroupEvents read_events(const CgroupEventFiles& files);

// A line "name value" of a control file; 0 where there is none.
std::uint64_t cgroup_counter(const std::string& path, std::string_view name);

// What a directory of a cgroup file system is to this process.
struct CgroupDirectory {
  bool writable = false;  // a child can be made in it and processes moved there
  bool occupied = false;  // has processes of its own, so that no controller can be enabled below it
  std::set<std::string, std::less<>> available = {};  // cgroup.controllers
  std::set<std::string, std::less<>> enabled = {};    // cgroup.subtree_control
};
using CgroupLook = std::function<CgroupDirectory(const std::string& path)>;

struct CgroupSources {
  std::uint32_t uid = 0;
  std::string memberships;  // /proc/self/cgroup
  std::string mountinfo;    // /proc/self/mountinfo
  bool user_manager = false;  // systemd's socket for this user exists
};

// The judgement, on data.
CgroupPlace choose_cgroup_place(const CgroupSources& sources, const CgroupLook& look);

// On this machine.
CgroupPlace find_cgroup_place(std::uint32_t uid);

}  // namespace hutch::host
