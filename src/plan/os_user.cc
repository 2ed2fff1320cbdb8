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

}  // namespace

std::string os_user_name(std::string_view agent) { return cat({kPrefix, agent}); }

std::string agent_of_os_user(std::string_view name) {
  return std::string(name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : std::string_view());
}

std::string os_user_home(std::string_view name) {
  return name == kCommonUser ? std::string(kUsersHome) : cat({kUsersHome, "/agents/", name});
}

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
  // The group may pass through what is above the homes; nobody else even that.
  steps.push_back(directory("let its group pass to the homes", "/var/lib/hutch", "0710", "root", common));
  steps.push_back(directory("make the agents' home", std::string(kUsersHome), "0710", common, common));
  if (name != common) {
    const std::string above = cat({kUsersHome, "/agents"});
    steps.push_back(directory("make the place of the agents' own homes", above, "0710", "root", common));
    steps.push_back(directory("make its home", home, "0700", name, name));
  }
  steps.push_back(directory("make its workspaces", cat({home, "/workspaces"}), "0700", name, name));
  steps.push_back(directory("make the place of its toolchains", cat({home, "/.runtimes"}), "0700", name, name));
  return steps;
}

std::vector<SetupStep> deinit_steps(const std::string& name, const OsUserFacts& facts, Homes homes) {
  std::vector<SetupStep> steps;
  if (facts.has_user) steps.push_back({cat({"remove the user ", name}), {"userdel", name}});
  if (homes == Homes::kRemoved && facts.has_home) {
    steps.push_back(
        {"remove its home with all that is in it", {"rm", "-r", "-f", "--one-file-system", "--", os_user_home(name)}});
  }
  return steps;
}

}  // namespace hutch::plan
