// The steps of hutch init and deinit.
#include "plan/os_user.h"

#include "base/text.h"

namespace hutch::plan {

namespace {

constexpr std::string_view kPrefix = "agent-";

SetupStep directory(std::string what, const std::string& path, std::string_view mode, std::string_view user,
                    std::string_view group) {
  return {std::move(what),
          {"install", "-d", "-m", std::string(mode), "-o", std::string(user), "-g", std::string(group), "--", path}};
}

// In a home that is the user's: by that user, since a link that lies in the way of root would be followed, and what it
// leads to given away (install(1)).
SetupStep own_directory(std::string what, const std::string& path, std::string_view user) {
  const std::string name(user);
  return {std::move(what),
          {"setpriv", "--reuid", name, "--regid", name, "--init-groups", "--no-new-privs", "mkdir", "-p", "-m", "0700",
           "--", path}};
}

// What would start later by cron or at is in no sandbox. A list may end without the end of its last line.
constexpr std::string_view kAppend = "[ -z \"$(tail -c 1 \"$1\")\" ] || echo >> \"$1\"; echo \"$0\" >> \"$1\"";

void add_denial(std::vector<SetupStep>& steps, const std::string& name, std::string_view file, DenyList list) {
  if (list == DenyList::kNotNeeded || list == DenyList::kHasIt) return;
  if (list == DenyList::kAbsent) {
    steps.push_back({"make the list of those who may not", {"install", "-m", "0644", "/dev/null", std::string(file)}});
  }
  const std::string_view what = file == kCronDenyList ? "cron" : "at";
  steps.push_back({cat({"keep ", name, " from running jobs later, by ", what}),
                   {"sh", "-c", std::string(kAppend), name, std::string(file)}});
}

void remove_denial(std::vector<SetupStep>& steps, const std::string& name, std::string_view file, DenyList list) {
  if (list != DenyList::kHasIt) return;
  steps.push_back({cat({"take ", name, " out of ", file}), {"sed", "-i", cat({"/^", name, "$/d"}), std::string(file)}});
}

}  // namespace

std::string os_user_name(std::string_view agent) { return cat({kPrefix, agent}); }

std::string agent_of_os_user(std::string_view name) {
  return std::string(name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : std::string_view());
}

std::string os_user_home(std::string_view name) {
  return name == kCommonUser ? std::string(kUsersHome) : cat({kUsersPlace, "/", name});
}

std::string os_user_output(std::string_view name) { return cat({kUsersPlace, "/output/", name}); }

std::vector<SetupStep> init_steps(const std::string& name, const OsUserFacts& facts) {
  std::vector<SetupStep> steps;
  const std::string common(kCommonUser);
  const std::string home = os_user_home(name);
  const auto add_user = [&](const std::string& user) {
    // A system user gets no subordinate ids (useradd(8), --system), so that it makes no user namespace with more users.
    SetupStep step{cat({"make the system user ", user}),
                   {"useradd", "--system", "--user-group", "--no-create-home", "--home-dir", os_user_home(user),
                    "--shell", "/bin/bash"}};
    if (user != common) step.command.insert(step.command.end(), {"--groups", common});
    step.command.push_back(user);
    steps.push_back(std::move(step));
  };
  if (!facts.has_common_user) add_user(common);
  if (name != common && !facts.has_user) add_user(name);
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

std::vector<SetupStep> deinit_steps(const std::string& name, const OsUserFacts& facts, Homes homes) {
  std::vector<SetupStep> steps;
  if (facts.has_user) steps.push_back({cat({"remove the user ", name}), {"userdel", name}});
  remove_denial(steps, name, kCronDenyList, facts.cron);
  remove_denial(steps, name, kAtDenyList, facts.at);
  if (homes == Homes::kRemoved && facts.has_home) {
    std::vector<std::string> command = {"rm", "-r", "-f", "--one-file-system", "--", os_user_home(name)};
    if (name != kCommonUser) command.push_back(os_user_output(name));
    steps.push_back({"remove its home with all that is in it", std::move(command)});
  }
  return steps;
}

}  // namespace hutch::plan
