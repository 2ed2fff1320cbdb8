// The OS users of agents: their names, and the steps that make and remove them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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

// Of people who are not root: everybody may pass through it, to a home of the agents of each.
inline constexpr std::string_view kPeoplesHomes = "/var/lib/hutch-people";

// The longest name that useradd(8) takes.
inline constexpr std::size_t kOsUserNameMax = 32;

// "agent-NAME". Of a name that would be too long the beginning and eight digits of its hash, always the same.
std::string os_user_name(std::string_view agent);
// The users of a person who is not root, a set for each: "hutch-PERSON", and for an agent "hutch-PERSON-NAME-" and
// eight digits, so that no two are the same however the names are put together.
std::string os_user_name_of(std::string_view person, std::string_view agent);
// Whether it could be one of these.
bool is_os_user_name(std::string_view name);
// The other way round; empty for kCommonUser.
std::string agent_of_os_user(std::string_view name);
// Where the user's files are; `name` is one of the names above.
std::string os_user_home(std::string_view name);
// Where an agent's user hands things out, and what it shares.
std::string os_user_output(std::string_view name);
std::string os_user_shared(std::string_view name);
// All places that are of that user alone, be they there or not.
std::vector<std::string> os_user_places(std::string_view name);

// What lets the person of that number run sandboxes as `user`, by hutch-helper. In it is what the person is called: a
// number may be somebody else's one day.
inline constexpr std::string_view kHelperPlace = "/etc/hutch-helper";
std::string people_directory(std::uint32_t person);
std::string people_entry(std::uint32_t person, std::string_view user);
// What is in it while the user is being made or removed: nobody's name, so that nothing starts, but still whose it is.
std::string leaving_person(std::string_view person);
// What lets that person have users for agents made, by hutch-helper: root's, with what the person is called in it, and
// below that the path of hutch, which makes them.
std::string agents_grant(std::uint32_t person);
// A daemon that is that user (hutch service init). While root's marker is there, no sandbox is the same user: it would
// have what is the daemon's. By number, as the kernel knows who is the same.
inline constexpr std::string_view kDaemonsPlace = "/etc/hutch-helper/daemons";
std::string daemon_marker(std::uint32_t user);
// Its unit, and its files.
std::string service_unit_file(std::string_view user);
std::string daemon_files(std::string_view user);
// Where hutch-helper is reached: the socket of its unit.
inline constexpr std::string_view kHelperSocket = "/run/hutch-helper/socket";

// A list of users who may run nothing later (crontab(1), at(1)), for one user. kNotNeeded: another list, or none, says
// that it may not already; kAbsent: without one everybody may.
enum class DenyList { kNotNeeded, kAbsent, kLacksIt, kHasIt };
inline constexpr std::string_view kCronDenyList = "/etc/cron.deny";
inline constexpr std::string_view kAtDenyList = "/etc/at.deny";

// What exists already.
struct OsUserFacts {
  bool has_user = false;
  std::vector<std::string> places{};       // of os_user_places: those that are there
  std::vector<std::string> open_places{};  // of these: those that are not root's
  bool has_common_user = false;
  // What it has, or is to get; 0: useradd(8) chooses.
  std::uint32_t number = 0;
  bool number_is_written = false;  // in kNumbersFile
  std::uint32_t common_number = 0;
  DenyList cron = DenyList::kNotNeeded;
  DenyList at = DenyList::kNotNeeded;
};

// One step of `hutch init` or `hutch deinit`: what it does, for a person, and the command that does it.
struct SetupStep {
  std::string what;
  std::vector<std::string> command;
  bool operator==(const SetupStep&) const = default;
};

// Whether one of the steps makes a user. Of a set-up that is there already none does.
bool make_a_user(std::span<const SetupStep> steps);

// `name` is kCommonUser or of os_user_name. Only what is missing is made; the modes and owners of directories are set
// every time.
std::vector<SetupStep> init_steps(const std::string& name, const OsUserFacts& facts);

enum class Homes { kKept, kRemoved };
std::vector<SetupStep> deinit_steps(const std::string& name, const OsUserFacts& facts, Homes homes);

}  // namespace hutch::plan
