// The steps of hutch init and deinit.
#include "plan/setup/os_user.h"

#include <algorithm>

#include "base/sha256.h"
#include "base/text.h"
#include "plan/setup/setup_steps.h"

namespace hutch::plan {

namespace {

constexpr std::string_view kAgentPrefix = "agent-";
constexpr std::string_view kPeoplesPrefix = "hutch-";
constexpr std::size_t kNumberDigits = 8;

// The beginning of a name, and what tells it from all others.
std::string with_digits(std::string_view name, std::string_view whole) {
  Sha256 sum;
  sum.add(whole);
  return cat({name.substr(0, kOsUserNameMax - kNumberDigits - 1), "-", sum.finish().substr(0, kNumberDigits)});
}

}  // namespace

std::string os_user_name(std::string_view agent) {
  std::string name = cat({kAgentPrefix, agent});
  return name.size() > kOsUserNameMax ? with_digits(name, name) : name;
}

std::string os_user_name_of(std::string_view person, std::string_view agent) {
  std::string name = cat({kPeoplesPrefix, person});
  if (agent.empty()) return name.size() > kOsUserNameMax ? with_digits(name, name) : name;
  // No name of a person or an agent has that in it.
  return with_digits(cat({name, "-", agent}), cat({person, "/", agent}));
}

bool is_os_user_name(std::string_view name) {
  return name == kCommonUser || name.starts_with(kAgentPrefix) || name.starts_with(kPeoplesPrefix);
}

std::string agent_of_os_user(std::string_view name) {
  return std::string(name.starts_with(kAgentPrefix) ? name.substr(kAgentPrefix.size()) : std::string_view());
}

std::string os_user_home(std::string_view name) {
  if (name == kCommonUser) return std::string(kUsersHome);
  return cat({name.starts_with(kPeoplesPrefix) ? kPeoplesHomes : kUsersPlace, "/", name});
}

std::string os_user_output(std::string_view name) {
  return name.starts_with(kPeoplesPrefix) ? os_user_home(name) + ".output" : cat({kUsersPlace, "/output/", name});
}

std::string os_user_shared(std::string_view name) {
  return name.starts_with(kPeoplesPrefix) ? os_user_home(name) + ".shared" : std::string(kUsersShared);
}

std::vector<std::string> os_user_places(std::string_view name) {
  std::vector<std::string> places = {os_user_home(name)};
  if (name != kCommonUser) places.push_back(os_user_output(name));
  if (name.starts_with(kPeoplesPrefix)) places.push_back(os_user_shared(name));
  places.push_back(daemon_files(name));
  return places;
}

std::string people_directory(std::uint32_t person) { return cat({kHelperPlace, "/people/", std::to_string(person)}); }

std::string people_entry(std::uint32_t person, std::string_view user) {
  return cat({people_directory(person), "/", user});
}

std::string leaving_person(std::string_view person) { return cat({"leaving ", person}); }

std::string agents_grant(std::uint32_t person) { return cat({kHelperPlace, "/agents/", std::to_string(person)}); }

std::string daemon_marker(std::uint32_t user) { return cat({kDaemonsPlace, "/", std::to_string(user)}); }

std::string service_unit_file(std::string_view user) {
  return cat({"/etc/systemd/system/hutch-daemon-", user, ".service"});
}

std::string daemon_files(std::string_view user) { return cat({"/var/lib/hutch-daemon-", user}); }

std::vector<SetupStep> init_steps(const std::string& name, const OsUserFacts& facts) {
  std::vector<SetupStep> steps;
  const std::string common(kCommonUser);
  const std::string home = os_user_home(name);
  const auto add_user = [&](const std::string& user, std::uint32_t number) {
    steps.push_back(system_user(user, number, os_user_home(user), user != common ? common : ""));
    write_number(steps, user, number);
  };
  if (!facts.has_common_user) add_user(common, name == common ? facts.number : facts.common_number);
  if (name != common && !facts.has_user) add_user(name, facts.number);
  if (facts.has_user && !facts.number_is_written) write_number(steps, name, facts.number);
  end_logins(steps, name);
  if (name != common) end_logins(steps, common);
  add_denial(steps, name, kCronDenyList, facts.cron);
  add_denial(steps, name, kAtDenyList, facts.at);
  if (name != common && !facts.has_common_user) {
    const auto of_new = [](DenyList list) { return list == DenyList::kNotNeeded ? list : DenyList::kLacksIt; };
    add_denial(steps, common, kCronDenyList, of_new(facts.cron));
    add_denial(steps, common, kAtDenyList, of_new(facts.at));
  }
  // The group may pass through what is above the homes; nobody else even that.
  steps.push_back(directory("let its group pass to the homes", "/var/lib/hutch", "0710", "root", common));
  steps.push_back(directory("make the agents' home", std::string(kUsersHome), "0700", common, common));
  if (name != common) {
    const std::string above(kUsersPlace);
    steps.push_back(directory("make the place of the agents' own homes", above, "0710", "root", common));
    steps.push_back(directory("make what such agents share", std::string(kUsersShared), "2770", "root", common));
    steps.push_back(directory("make its home", home, "0700", name, name));
    steps.push_back(directory("make the place of what they hand out", above + "/output", "0710", "root", common));
    steps.push_back(directory("make its own there", os_user_output(name), "0700", name, name));
  }
  steps.push_back(own_directory("make its workspaces", home + "/workspaces", name));
  steps.push_back(own_directory("make the place of its toolchains", home + "/.runtimes", name));
  return steps;
}

bool make_a_user(std::span<const SetupStep> steps) {
  return std::ranges::any_of(steps, [](const SetupStep& step) {
    return step.command.front() == "useradd" || step.command.front() == "sysadminctl";
  });
}

std::vector<SetupStep> deinit_steps(const std::string& name, const OsUserFacts& facts, Homes homes) {
  std::vector<SetupStep> steps;
  if (facts.has_user && !facts.number_is_written) write_number(steps, name, facts.number);
  if (facts.has_user) steps.push_back({cat({"remove the user ", name}), {"userdel", name}});
  remove_denial(steps, name, kCronDenyList, facts.cron);
  remove_denial(steps, name, kAtDenyList, facts.at);
  end_places(steps, facts, homes);
  return steps;
}

}  // namespace hutch::plan
