// The steps of hutch network init and hutch service init.
#include "plan/setup/machine_setup.h"

#include <utility>

#include "base/decimal.h"
#include "base/text.h"
#include "plan/setup/setup_steps.h"

namespace hutch::plan {

namespace {

constexpr std::string_view kNetworkUnitName = "hutch-network.service";
constexpr std::uint32_t kPortMax = 65535;

std::string service_unit_name(const std::string& user) { return cat({"hutch-daemon-", user, ".service"}); }

// What was the user before the marker came, or still is.
SetupStep at_rest_step(const ServiceFacts& facts) {
  SetupStep step{cat({"see that nothing else is ", facts.user}), {facts.hutch, "service", "check"}};
  if (!facts.person.empty()) step.command.insert(step.command.end(), {"--for", facts.person});
  return step;
}

SetupStep reload() { return {"have systemd read it", {"systemctl", "daemon-reload"}}; }

}  // namespace

SetupStep apply_network_step(const std::string& hutch) {
  return {"set the rules for these users in the kernel, in a table of hutch's own", {hutch, "network", "apply"}};
}

std::vector<SetupStep> network_init_steps(const std::string& hutch, const std::vector<std::uint16_t>& ports,
                                          Systemd systemd) {
  std::vector<SetupStep> steps;
  steps.push_back(
      directory("make the place of hutch's settings of root", std::string(kHelperPlace), "0755", "root", "root"));
  std::string lines;
  for (const std::uint16_t port : ports) lines += cat({std::to_string(port), "\n"});
  steps.push_back(root_file("write down which ports of this machine agents' users have", std::string(kNetworkFile),
                            std::move(lines)));
  steps.push_back(apply_network_step(hutch));
  if (systemd == Systemd::kAbsent) return steps;
  steps.push_back(root_file("set them at each start of the machine", std::string(kNetworkUnit), network_unit(hutch)));
  steps.push_back(reload());
  steps.push_back({"from the next start on", {"systemctl", "enable", std::string(kNetworkUnitName)}});
  return steps;
}

std::vector<SetupStep> network_deinit_steps(const std::string& hutch, Systemd systemd) {
  std::vector<SetupStep> steps;
  if (systemd == Systemd::kHere) {
    steps.push_back(
        {"set no rules at the start of the machine", {"systemctl", "disable", std::string(kNetworkUnitName)}});
    steps.push_back({"remove the unit", {"rm", "-f", "--", std::string(kNetworkUnit)}});
    steps.push_back(reload());
  }
  steps.push_back({"forget the ports", {"rm", "-f", "--", std::string(kNetworkFile)}});
  steps.push_back({"take hutch's table out of the kernel", {hutch, "network", "apply"}});
  return steps;
}

Result<std::vector<std::uint16_t>> read_network_file(std::string_view text) {
  std::vector<std::uint16_t> ports;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    const auto port = decimal_of(line);
    if (!port || *port == 0 || *port > kPortMax) {
      return fail(Error::invalid(cat({kNetworkFile, ": ", printable(line), " is no port"})));
    }
    ports.push_back(static_cast<std::uint16_t>(*port));
  }
  return ports;
}

// Behind whoever empties all tables at the start, as Debian's nftables.service does; again when the resolver has made
// its socket anew.
std::string network_unit(std::string_view hutch) {
  return cat(
      {"# No network for agents' users outside of their sandboxes: a table of hutch's own, by the users' numbers.\n"
       "[Unit]\n"
       "Description=hutch: no network for agents' users outside of sandboxes\n"
       "After=nftables.service systemd-resolved.service nscd.service dbus.service\n"
       "PartOf=nftables.service systemd-resolved.service nscd.service dbus.service\n"
       "\n"
       "[Service]\n"
       "Type=oneshot\n"
       "RemainAfterExit=yes\n"
       "ExecStart=",
       hutch,
       " network apply\n"
       "\n"
       "[Install]\n"
       "WantedBy=multi-user.target\n"});
}

std::vector<SetupStep> service_init_steps(const ServiceFacts& facts) {
  std::vector<SetupStep> steps;
  for (const std::string_view made : {kHelperPlace, kDaemonsPlace}) {
    steps.push_back(directory("make the place of who is a daemon's user", std::string(made), "0755", "root", "root"));
  }
  steps.push_back(root_file(cat({"let no sandbox be ", facts.user, " from here on"}), daemon_marker(facts.number),
                            cat({facts.user, "\n"})));
  steps.push_back(at_rest_step(facts));
  if (facts.systemd == Systemd::kAbsent) {
    steps.push_back(
        directory("make the place of the daemon's files", daemon_files(facts.user), "0700", facts.user, facts.user));
    return steps;
  }
  steps.push_back(root_file(cat({"have systemd run hutch's daemon as ", facts.user}), service_unit_file(facts.user),
                            service_unit(facts.user, facts.hutch)));
  steps.push_back(reload());
  steps.push_back(
      {"now and at each start of the machine", {"systemctl", "enable", "--now", service_unit_name(facts.user)}});
  return steps;
}

std::vector<SetupStep> service_deinit_steps(const ServiceFacts& facts) {
  std::vector<SetupStep> steps;
  const bool has_systemd = facts.systemd == Systemd::kHere;
  if (has_systemd && facts.has_unit) {
    steps.push_back({"end the daemon", {"systemctl", "disable", "--now", service_unit_name(facts.user)}});
  }
  steps.push_back({"remove its unit", {"rm", "-f", "--", service_unit_file(facts.user)}});
  if (has_systemd) steps.push_back(reload());
  if (facts.number != 0) steps.push_back(at_rest_step(facts));
  if (facts.has_files) {
    steps.push_back(directory("keep its files, closed until that user is a daemon again", daemon_files(facts.user),
                              "0700", "root", "root"));
  }
  if (facts.number != 0) {
    steps.push_back(
        {cat({"let sandboxes be ", facts.user, " again"}), {"rm", "-f", "--", daemon_marker(facts.number)}});
  }
  return steps;
}

std::string service_command(const ServiceFacts& facts) {
  const std::string& user = facts.user;
  const std::string runtime = cat({"/run/hutch-daemon-", user});
  return cat({"install -d -m 0700 -o ", user, " -g ", user, " ", runtime, " && setpriv --reuid ", user, " --regid ",
              user, " --init-groups env -i PATH=/usr/bin:/bin HOME=", daemon_files(user), " XDG_RUNTIME_DIR=", runtime,
              " ", facts.hutch, " serve --idle never"});
}

std::string service_unit(const std::string& user, std::string_view hutch) {
  return cat(
      {"# hutch's daemon as an agents' user: what it starts is that user, in the backend that each agent says. Its "
       "files\n"
       "# are its own: sandboxes that were that user had the home.\n"
       "[Unit]\n"
       "Description=hutch: the sandboxes of ",
       user,
       "\n"
       "\n"
       "[Service]\n"
       "User=",
       user,
       "\n"
       "RuntimeDirectory=hutch-daemon-",
       user,
       "\n"
       "RuntimeDirectoryMode=0700\n"
       "Environment=XDG_RUNTIME_DIR=/run/hutch-daemon-",
       user,
       "\n"
       "StateDirectory=hutch-daemon-",
       user,
       "\n"
       "StateDirectoryMode=0700\n"
       "Environment=HOME=/var/lib/hutch-daemon-",
       user,
       "\n"
       "WorkingDirectory=/var/lib/hutch-daemon-",
       user,
       "\n"
       "ExecStart=",
       hutch,
       " serve --idle never\n"
       "# The sandboxes' limits are held by cgroups below the daemon's own.\n"
       "Delegate=yes\n"
       "# TERM to the daemon alone: it ends the sandboxes, each with its grace.\n"
       "KillMode=mixed\n"
       "Restart=on-failure\n"
       "\n"
       "[Install]\n"
       "WantedBy=multi-user.target\n"});
}

}  // namespace hutch::plan
