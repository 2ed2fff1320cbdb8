// The steps of hutch init --for and deinit --for.
#include "plan/setup/person_setup.h"

#include "base/text.h"
#include "plan/setup/setup_steps.h"

namespace hutch::plan {

namespace {

constexpr std::string_view kSocketName = "hutch-helper.socket";

// The user that the person has without naming an agent.
bool is_for_all_agents(const std::string& name, const PersonFacts& facts) {
  return name == os_user_name_of(facts.person, "");
}

void add_starter(std::vector<SetupStep>& steps, const PersonFacts& facts) {
  if (facts.starter == HelperStarter::kSudo) {
    steps.push_back(root_file(cat({"let ", facts.person, " run hutch-helper as root, by sudo, and nothing else"}),
                              sudoers_file(facts.uid), helper_sudoers(facts.uid, facts.helper)));
    return;
  }
  steps.push_back(
      root_file("have systemd listen for hutch-helper", std::string(kHelperSocketUnit), helper_socket_unit()));
  steps.push_back(root_file("have it start one for each connection", std::string(kHelperServiceUnit),
                            helper_service_unit(facts.helper)));
  steps.push_back({"have systemd read them", {"systemctl", "daemon-reload"}});
  steps.push_back(
      {"listen now and after each start of the machine", {"systemctl", "enable", "--now", std::string(kSocketName)}});
}

void remove_starter(std::vector<SetupStep>& steps, const PersonFacts& facts) {
  if (facts.has_other_users) return;
  if (facts.has_rule) {
    steps.push_back(
        {cat({"take the rule of ", facts.person, " from sudo"}), {"rm", "-f", "--", sudoers_file(facts.uid)}});
  }
  if (facts.has_other_people || facts.starter != HelperStarter::kSystemd || !facts.has_units) return;
  steps.push_back({"listen no more", {"systemctl", "disable", "--now", std::string(kSocketName)}});
  steps.push_back({"remove hutch-helper's units",
                   {"rm", "-f", "--", std::string(kHelperSocketUnit), std::string(kHelperServiceUnit)}});
  steps.push_back({"have systemd forget them", {"systemctl", "daemon-reload"}});
}

// Last: as long as it is there, whoever begins again finds what is left, though the person may be gone.
void remove_entry(std::vector<SetupStep>& steps, const std::string& name, const PersonFacts& facts) {
  if (facts.has_entry) {
    steps.push_back(
        {cat({"forget that ", name, " was for ", facts.person}), {"rm", "-f", "--", people_entry(facts.uid, name)}});
  }
  if (facts.has_other_users || !facts.has_directory) return;
  steps.push_back({cat({"remove the place of what ", facts.person, " may be"}),
                   {"rmdir", "--ignore-fail-on-non-empty", "--", people_directory(facts.uid)}});
}

}  // namespace

std::string sudoers_file(std::uint32_t person) { return cat({"/etc/sudoers.d/hutch-helper-", std::to_string(person)}); }

std::vector<SetupStep> init_person_steps(const std::string& name, const PersonFacts& facts) {
  std::vector<SetupStep> steps;
  const std::string home = os_user_home(name);
  const std::string place(kHelperPlace);
  for (const std::string& made : {place, place + "/people", people_directory(facts.uid)}) {
    steps.push_back(directory("make the place of who may be whom", made, "0755", "root", "root"));
  }
  // Before all else: what fails further down has left a user, which counts as one of the person's.
  if (!facts.has_entry) {
    steps.push_back(root_file(cat({"write down that ", name, " is for ", facts.person}), people_entry(facts.uid, name),
                              leaving_person(facts.person) + "\n"));
  }
  if (!facts.user.has_user) steps.push_back(system_user(name, facts.user.number, home, ""));
  if (!facts.user.has_user || !facts.user.number_is_written) write_number(steps, name, facts.user.number);
  end_logins(steps, name);
  add_denial(steps, name, kCronDenyList, facts.user.cron);
  add_denial(steps, name, kAtDenyList, facts.user.at);
  // To be passed through: the homes themselves are closed.
  steps.push_back(directory("make the place of such homes", std::string(kPeoplesHomes), "0711", "root", "root"));
  steps.push_back(directory("make its home", home, "0700", name, name));
  steps.push_back(directory("make the place of what it hands out", os_user_output(name), "0700", name, name));
  steps.push_back(directory("make the place of what it shares", os_user_shared(name), "0700", name, name));
  steps.push_back(own_directory("make its workspaces", home + "/workspaces", name));
  steps.push_back(own_directory("make the place of its toolchains", home + "/.runtimes", name));
  steps.push_back(root_file(cat({"let ", facts.person, " have sandboxes that are ", name}),
                            people_entry(facts.uid, name), facts.person + "\n"));
  if (is_for_all_agents(name, facts)) {
    steps.push_back(
        directory("make the place of who may have agents' users", place + "/agents", "0755", "root", "root"));
    steps.push_back(root_file(cat({"let ", facts.person, " have users for single agents made"}),
                              agents_grant(facts.uid), cat({facts.person, "\n", facts.hutch, "\n"})));
  }
  add_starter(steps, facts);
  return steps;
}

std::vector<SetupStep> deinit_person_steps(const std::string& name, const PersonFacts& facts, Homes homes) {
  std::vector<SetupStep> steps;
  if (facts.has_grant && is_for_all_agents(name, facts)) {
    steps.push_back(
        {cat({"make no more users for agents of ", facts.person}), {"rm", "-f", "--", agents_grant(facts.uid)}});
  }
  // Before all else: from here on nothing new starts.
  if (facts.has_entry) {
    steps.push_back(root_file(cat({"let ", facts.person, " have no more sandboxes that are ", name}),
                              people_entry(facts.uid, name), leaving_person(facts.person) + "\n"));
  }
  if (facts.user.has_user && !facts.user.number_is_written) write_number(steps, name, facts.user.number);
  if (facts.user.has_user) steps.push_back({cat({"remove the user ", name}), {"userdel", name}});
  remove_denial(steps, name, kCronDenyList, facts.user.cron);
  remove_denial(steps, name, kAtDenyList, facts.user.at);
  end_places(steps, facts.user, homes);
  remove_starter(steps, facts);
  remove_entry(steps, name, facts);
  return steps;
}

std::string helper_socket_unit() {
  return cat(
      {"# Where hutch-helper is asked for sandboxes that are OS users. Everybody may connect: who it is, the kernel\n"
       "# says, and whom they may be, /etc/hutch-helper/people.\n"
       "[Unit]\n"
       "Description=hutch: sandboxes that are OS users\n"
       "\n"
       "[Socket]\n"
       "ListenStream=",
       kHelperSocket,
       "\n"
       "SocketMode=0666\n"
       "DirectoryMode=0755\n"
       "Accept=yes\n"
       "MaxConnections=1024\n"
       "MaxConnectionsPerSource=80\n"
       "\n"
       "[Install]\n"
       "WantedBy=sockets.target\n"});
}

std::string helper_service_unit(std::string_view helper) {
  return cat(
      {"# One hutch-helper for each connection, with the sandbox that it keeps.\n"
       "[Unit]\n"
       "Description=hutch: a sandbox that is an OS user\n"
       "CollectMode=inactive-or-failed\n"
       "\n"
       "[Service]\n"
       "ExecStart=",
       helper,
       "\n"
       "StandardInput=socket\n"
       "StandardOutput=journal\n"
       "StandardError=journal\n"
       "# The sandbox's limits are held by a cgroup below its own.\n"
       "Delegate=yes\n"
       "# With the helper everything ends.\n"
       "KillMode=control-group\n"
       "KillSignal=SIGKILL\n"});
}

// Without a terminal of sudo's own, which would take the connection's place (sudoers(5), use_pty); "" is: no argument.
std::string helper_sudoers(std::uint32_t person, std::string_view helper) {
  return cat(
      {"# Starts sandboxes as the OS users that /etc/hutch-helper/people lets that person be, and does nothing else.\n"
       "Defaults!",
       helper, " !use_pty, !requiretty, !log_input, !log_output\n", "#", std::to_string(person),
       " ALL=(root) NOPASSWD: ", helper, " \"\"\n"});
}

}  // namespace hutch::plan
