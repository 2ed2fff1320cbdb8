// The commands of useradd(8), userdel(8), install(1) and rm(1), one after another.
#include "service/os_user/init.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "host/machine/account.h"
#include "host/machine/people.h"
#include "plan/setup/os_user_numbers.h"
#include "service/os_user/machine_setup.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/mount_table.h"
#include "sys/files/tree.h"
#include "sys/process/host_info.h"
#include "sys/process/process.h"

namespace hutch::service {

namespace {

constexpr std::size_t kInitAccountsMax = 16 << 20;

// Whoever is not root asks for --dry-run alone, and does not pass to the homes.
Result<std::optional<sys::PathStatus>> status_if_seen(const std::string& place) {
  auto status = sys::status_of(place);
  if (!status && status.error().sys_errno == EACCES) return std::optional<sys::PathStatus>();
  return status;
}

// Whoever is in cron.allow or at.allow is named there by a person. Without either list everybody may use Debian's cron,
// and root alone may use at (crontab(1), at(1)): making a list of those who may not would let in all others.
Result<plan::DenyList> deny_list(const std::string& name, std::string_view allowing, std::string_view denying) {
  using plan::DenyList;
  if (sys::exists(std::string(allowing))) return DenyList::kNotNeeded;
  if (!sys::exists(std::string(denying))) {
    const bool open = denying == plan::kCronDenyList && sys::exists("/etc/debian_version");
    return open ? DenyList::kAbsent : DenyList::kNotNeeded;
  }
  const std::string text = TRY(sys::read_file(std::string(denying), kInitAccountsMax));
  const auto lines = split(text, '\n');
  return std::ranges::find(lines, name) != lines.end() ? DenyList::kHasIt : DenyList::kLacksIt;
}

// Where administrators' programs are, whatever PATH says to a root that sudo made.
Result<std::string> find_program(const std::string& name) {
  if (name.starts_with('/')) return name;
  for (const char* directory : {"/usr/sbin/", "/usr/bin/", "/sbin/", "/bin/"}) {
    std::string path = cat({directory, name});
    if (sys::is_executable_file(path)) return path;
  }
  return fail(Error::not_found(cat({name, " is on none of this machine's system directories"})));
}

// A person may be called so: nothing of theirs is set up, and least of all removed.
Status check_is_hutchs(const std::string& name) {
  const auto user = TRY(host::find_os_user(name));
  if (!user || user->home == plan::os_user_home(name)) return {};
  return fail({Code::kConflict, 0, cat({"the user ", name, " of this machine is not hutch's: its home is elsewhere"})});
}

// Its group would stay while one of them is in it, and no user of that name could be made again.
Status check_is_last(const std::string& name) {
  if (name != plan::kCommonUser) return {};
  for (const host::OsUser& user : TRY(host::agents_users())) {
    const std::string agent = plan::agent_of_os_user(user.name);
    if (agent.empty()) continue;
    return fail({Code::kConflict, 0,
                 cat({"the user ", user.name, " is in the group of ", name, ": sudo hutch deinit --agent ", agent,
                      ", or remove the agent, first"})});
  }
  return {};
}

}  // namespace

Result<std::vector<plan::GivenNumber>> given_numbers() {
  const std::string file(plan::kNumbersFile);
  if (!sys::exists(file)) return std::vector<plan::GivenNumber>();
  TRY(host::check_is_roots(file));
  const std::string text = TRY(sys::read_file(file, kInitAccountsMax));
  return plan::read_given_numbers(text);
}

namespace {

// Whose files are in a home that was kept: of the user that was there last, who alone may find them.
Result<std::optional<std::uint32_t>> number_of_kept(const std::string& name,
                                                    const std::vector<plan::GivenNumber>& given) {
  const auto home = TRY(status_if_seen(plan::os_user_home(name)));
  if (!home) return std::optional<std::uint32_t>();
  if (const auto number = plan::number_given_to(given, name)) return number;
  return home->uid == 0 ? std::nullopt : std::optional(home->uid);
}

// For a user that is to be made.
Result<std::uint32_t> next_number(const std::string& name, const std::vector<plan::GivenNumber>& given,
                                  std::optional<std::uint32_t> apart_from) {
  const std::string passwd = TRY(sys::read_file("/etc/passwd", kInitAccountsMax));
  const std::string group = TRY(sys::read_file("/etc/group", kInitAccountsMax));
  std::set<std::uint32_t> taken = plan::numbers_of(passwd);
  taken.merge(plan::numbers_of(group));
  if (apart_from) taken.insert(*apart_from);
  if (const auto kept = TRY(number_of_kept(name, given))) {
    if (!taken.contains(*kept)) return *kept;
    return fail({Code::kConflict, 0,
                 cat({"the files in ", plan::os_user_home(name), " are those of number ", std::to_string(*kept),
                      ", which is somebody else's by now: move that directory away"})});
  }
  const std::string text = sys::read_file("/etc/login.defs", kInitAccountsMax).value_or("");
  const auto free = plan::free_number(plan::system_numbers(text), taken, given);
  if (free) return *free;
  return fail(Error::unsupported(
      cat({"this machine has no number left for a system user: ", plan::kNumbersFile,
           " keeps those of agents' users that were removed, whose files or shares may be left; take out lines of "
           "which you know that none is"})));
}

}  // namespace

Result<plan::OsUserFacts> os_user_facts(const std::string& name) {
  const std::string passwd = TRY(sys::read_file("/etc/passwd", kInitAccountsMax));
  const auto known = [&](std::string_view user) { return host::find_user(passwd, {}, user); };
  const auto user = known(name);
  const auto is_it = [&](const plan::GivenNumber& one) { return user && one.number == user->uid && one.name == name; };
  const auto given = TRY(given_numbers());
  std::vector<std::string> places;
  std::vector<std::string> open_places;
  for (const std::string& place : plan::os_user_places(name)) {
    const auto status = TRY(status_if_seen(place));
    if (status) places.push_back(place);
    if (status && status->uid != 0) open_places.push_back(place);
  }
  return plan::OsUserFacts{.has_user = user.has_value(),
                           .places = std::move(places),
                           .open_places = std::move(open_places),
                           .has_common_user = known(plan::kCommonUser).has_value(),
                           .number = user ? user->uid : 0,
                           .number_is_written = std::ranges::any_of(given, is_it),
                           .cron = TRY(deny_list(name, "/etc/cron.allow", plan::kCronDenyList)),
                           .at = TRY(deny_list(name, "/etc/at.allow", plan::kAtDenyList))};
}

Status settle_numbers(const std::string& name, plan::OsUserFacts& facts) {
  const auto given = TRY(given_numbers());
  if (!facts.has_user) facts.number = TRY(next_number(name, given, std::nullopt));
  if (facts.has_common_user || name == plan::kCommonUser) return {};
  facts.common_number = TRY(next_number(std::string(plan::kCommonUser), given, facts.number));
  return {};
}

Result<std::vector<plan::SetupStep>> with_network(std::vector<plan::SetupStep> steps) {
  for (plan::SetupStep& step : TRY(network_again_plan())) steps.push_back(std::move(step));
  return steps;
}

Result<std::vector<plan::SetupStep>> init_plan(const std::string& name) {
  TRY(check_is_hutchs(name));
  TRY(check_is_hutchs(std::string(plan::kCommonUser)));
  plan::OsUserFacts facts = TRY(os_user_facts(name));
  TRY(settle_numbers(name, facts));
  return with_network(plan::init_steps(name, facts));
}

Status check_is_no_daemons(const std::string& name) {
  const auto user = TRY(host::find_os_user(name));
  return user ? host::check_is_no_daemon(*user) : Status();
}

// rm(1) keeps to one file system, but a directory of the same one may be bound there.
Status check_may_go(const std::vector<std::string>& places, plan::Homes homes) {
  if (homes == plan::Homes::kKept) return {};
  const UniqueFd mountinfo = TRY(sys::open("/proc/self/mountinfo", sys::Open::kRead));
  for (const sys::MountEntry& mount : TRY(sys::mount_table(mountinfo.get()))) {
    const auto holds = [&](const std::string& place) {
      return is_within(mount.point, sys::canonical_path(place).value_or(place));
    };
    if (std::ranges::none_of(places, holds)) continue;
    return fail({Code::kConflict, 0,
                 cat({"something is mounted at ", printable(mount.point),
                      ", and would be removed with the home: unmount it first"})});
  }
  return {};
}

Result<std::vector<plan::SetupStep>> deinit_plan(const std::string& name, plan::Homes homes) {
  TRY(check_is_hutchs(name));
  TRY(check_is_last(name));
  TRY(check_is_no_daemons(name));
  const plan::OsUserFacts facts = TRY(os_user_facts(name));
  TRY(check_may_go(facts.places, homes));
  return with_network(plan::deinit_steps(name, facts, homes));
}

Status run_steps(const std::vector<plan::SetupStep>& steps, const std::function<void(const plan::SetupStep&)>& tell) {
  if (sys::user_id() != 0) {
    return fail(Error{.code = Code::kPermissionDenied, .message = "only root can make and remove OS users"});
  }
  for (const plan::SetupStep& step : steps) {
    tell(step);
    const std::string program = TRY(find_program(step.command.front()));
    auto child = TRY(sys::spawn(program, {.arguments = step.command,
                                          .environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"},
                                          .install = {{2, 1}, {2, 2}}}));
    const sys::WaitStatus status = TRY(child.wait());
    if (status.exited() && status.exit_code() == 0) continue;
    return fail(Error{.message = cat({join(step.command, " "), ": failed"})});
  }
  return {};
}

}  // namespace hutch::service
