// The OS users of agents: their names, and the steps that make and remove them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/facts.h"

namespace hutch::plan {

inline constexpr std::string_view kUsersHome = "/var/lib/hutch/home";
// Root's: no agent can put another directory, or a link, in the place of what root makes and removes in it.
inline constexpr std::string_view kUsersPlace = "/var/lib/hutch/users";
// Of all agents with a user of their own.
inline constexpr std::string_view kUsersShared = "/var/lib/hutch/users/shared";

// "agent-NAME", of a name that an agent may have: these are short enough.
std::string os_user_name(std::string_view agent);
// The other way round; empty for kCommonUser.
std::string agent_of_os_user(std::string_view name);
// Where the user's files are; `name` is kCommonUser or of os_user_name.
std::string os_user_home(std::string_view name);
// Where an agent's user hands things out.
std::string os_user_output(std::string_view name);

// A list of users who may run nothing later (crontab(1), at(1)), for one user. kNotNeeded: another list, or none, says
// that it may not already; kAbsent: without one everybody may.
enum class DenyList { kNotNeeded, kAbsent, kLacksIt, kHasIt };
inline constexpr std::string_view kCronDenyList = "/etc/cron.deny";
inline constexpr std::string_view kAtDenyList = "/etc/at.deny";

// What exists already.
struct OsUserFacts {
  bool has_user = false;
  bool has_home = false;
  bool has_common_user = false;
  DenyList cron = DenyList::kNotNeeded;
  DenyList at = DenyList::kNotNeeded;
};

// One step of `hutch init` or `hutch deinit`: what it does, for a person, and the command that does it.
struct SetupStep {
  std::string what;
  std::vector<std::string> command;
  bool operator==(const SetupStep&) const = default;
};

// `name` is kCommonUser or of os_user_name. Only what is missing is made; the modes and owners of directories are set
// every time.
std::vector<SetupStep> init_steps(const std::string& name, const OsUserFacts& facts);

enum class Homes { kKept, kRemoved };
std::vector<SetupStep> deinit_steps(const std::string& name, const OsUserFacts& facts, Homes homes);

}  // namespace hutch::plan
