// The commands of sysadminctl(8), dseditgroup(8), dscl(1), pfctl(8) and launchctl(1).
#include "plan/setup/macos_setup.h"

#include <utility>

#include "base/text.h"
#include "plan/facts.h"
#include "plan/setup/setup_steps.h"

namespace hutch::plan {

namespace {

constexpr std::string_view kDaemonName = "org.hutch.network";
constexpr std::string_view kDaemonFile = "/Library/LaunchDaemons/org.hutch.network.plist";

// A user that sysadminctl makes is in the group staff, as people are; it gets one of its own in the place of that.
constexpr std::string_view kOwnGroup =
    "dscl . -create \"/Users/$0\" PrimaryGroupID \"$(dscl . -read \"/Groups/$0\" PrimaryGroupID | cut -d ' ' -f 2)\"";

void add_user(std::vector<SetupStep>& steps, const std::string& name) {
  const std::string user = macos_user(name);
  steps.push_back({cat({"make the user ", user}),
                   {"sysadminctl", "-addUser", user, "-fullName", cat({"hutch: ", name}), "-home", os_user_home(name),
                    "-shell", "/bin/bash"}});
  steps.push_back({"make its group", {"dseditgroup", "-o", "create", user}});
  steps.push_back({"have it in that group", {"sh", "-c", std::string(kOwnGroup), user}});
  steps.push_back({"and not in that of people", {"dseditgroup", "-o", "edit", "-d", user, "-t", "user", "staff"}});
  steps.push_back({"show it to nobody who logs in", {"dscl", ".", "-create", cat({"/Users/", user}), "IsHidden", "1"}});
}

// In a home that is the user's, by that user.
SetupStep own(std::string what, const std::string& path, const std::string& user) {
  return {std::move(what), {"sudo", "-n", "-u", user, "mkdir", "-p", "-m", "0700", "--", path}};
}

// launchd.plist(5)
std::string daemon_text() {
  return cat(
      {"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
       "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" "
       "\"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n"
       "<plist version=\"1.0\"><dict>\n"
       "<key>Label</key><string>",
       kDaemonName,
       "</string>\n"
       "<key>ProgramArguments</key><array>\n"
       "<string>/sbin/pfctl</string><string>-E</string><string>-a</string><string>",
       kPfAnchor, "</string><string>-f</string><string>", kPfFile,
       "</string>\n"
       "</array>\n"
       "<key>RunAtLoad</key><true/>\n"
       "</dict></plist>\n"});
}

}  // namespace

std::string macos_user(std::string_view name) { return cat({"_", name}); }

std::vector<SetupStep> macos_init_steps(const std::string& name, const OsUserFacts& facts) {
  std::vector<SetupStep> steps;
  const std::string common(kCommonUser);
  const std::string group = macos_user(common);
  const std::string user = macos_user(name);
  if (!facts.has_common_user) add_user(steps, common);
  if (name != common && !facts.has_user) {
    add_user(steps, name);
    steps.push_back({"let it pass to its home", {"dseditgroup", "-o", "edit", "-a", user, "-t", "user", group}});
  }
  steps.push_back(directory("let its group pass to the homes", "/var/lib/hutch", "0710", "root", group));
  steps.push_back(directory("make the agents' home", std::string(kUsersHome), "0700", group, group));
  if (name != common) {
    const std::string above(kUsersPlace);
    steps.push_back(directory("make the place of the agents' own homes", above, "0710", "root", group));
    steps.push_back(directory("make what such agents share", std::string(kUsersShared), "2770", "root", group));
    steps.push_back(directory("make its home", os_user_home(name), "0700", user, user));
    steps.push_back(directory("make the place of what they hand out", above + "/output", "0710", "root", group));
    steps.push_back(directory("make its own there", os_user_output(name), "0700", user, user));
  }
  steps.push_back(own("make its workspaces", os_user_home(name) + "/workspaces", user));
  steps.push_back(own("make the place of its toolchains", os_user_home(name) + "/.runtimes", user));
  return steps;
}

std::vector<SetupStep> macos_deinit_steps(const std::string& name, const OsUserFacts& facts, Homes homes) {
  std::vector<SetupStep> steps;
  const std::string user = macos_user(name);
  if (facts.has_user) {
    steps.push_back({cat({"remove the user ", user}), {"sysadminctl", "-deleteUser", user, "-keepHome"}});
    steps.push_back({"remove its group", {"dseditgroup", "-o", "delete", user}});
  }
  if (homes == Homes::kRemoved && !facts.places.empty()) {
    std::vector<std::string> command = {"rm", "-r", "-f", "-x", "--", os_user_home(name)};
    if (name != kCommonUser) command.push_back(os_user_output(name));
    steps.push_back({"remove its home with all that is in it", std::move(command)});
  }
  return steps;
}

// Of rules that say "quick" the first that fits decides.
std::string pf_rules(const std::vector<std::string>& users, const std::vector<std::uint16_t>& ports) {
  std::string text = "# No network for agents' users outside of their sandboxes.\n";
  std::string port_list;
  for (const std::uint16_t port : ports) port_list += cat({port_list.empty() ? "" : ", ", std::to_string(port)});
  for (const std::string& name : users) {
    const std::string user = macos_user(name);
    if (!ports.empty()) {
      text += cat({"pass out quick on lo0 proto tcp from any to any port { ", port_list, " } user ", user, "\n"});
    }
    text += cat({"block return out quick proto { tcp, udp } from any to any user ", user, "\n"});
  }
  return text;
}

std::vector<SetupStep> macos_network_init_steps(const std::vector<std::string>& users,
                                                const std::vector<std::uint16_t>& ports) {
  const std::string file(kPfFile);
  return {directory("make the place of hutch's settings of root", std::string(kHelperPlace), "0755", "root", "wheel"),
          root_file("write down the rules for these users", file, pf_rules(users, ports)),
          {"see whether pf takes them", {"pfctl", "-n", "-a", std::string(kPfAnchor), "-f", file}},
          {"set them, in an anchor of hutch's own", {"pfctl", "-E", "-a", std::string(kPfAnchor), "-f", file}},
          root_file("set them at each start of the machine", std::string(kDaemonFile), daemon_text()),
          {"from the next start on", {"launchctl", "bootstrap", "system", std::string(kDaemonFile)}}};
}

std::vector<SetupStep> macos_network_deinit_steps() {
  return {{"set no rules at the start of the machine", {"launchctl", "bootout", cat({"system/", kDaemonName})}},
          {"remove what did", {"rm", "-f", "--", std::string(kDaemonFile), std::string(kPfFile)}},
          {"take hutch's rules out of pf", {"pfctl", "-a", std::string(kPfAnchor), "-F", "rules"}}};
}

}  // namespace hutch::plan
