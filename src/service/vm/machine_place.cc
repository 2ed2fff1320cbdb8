// A sandbox in a virtual machine.
#include "service/vm/machine_place.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "host/state_dirs.h"
#include "store/machine_settings.h"

namespace hutch::service {

namespace {

// As hutch-guest makes it there (guest/machine/machine.cc).
constexpr std::uint32_t kUser = 1000;

Status check_files(const LoadedPolicy& loaded, const PlaceRequest& request) {
  const policy::Filesystem& files = loaded.policy.filesystem;
  const bool built_in = loaded.files.empty() && !request.policy;
  const bool of_agent = !request.agent.empty();
  const std::array<std::pair<std::string_view, bool>, 5> wanted = {
      std::pair("filesystem.allowRead", !built_in && !files.allow_read.empty()),
      std::pair("filesystem.allowWrite", !built_in && !files.allow_write.empty()),
      std::pair(of_agent ? "allowRead of the agent" : "--allow-read", !request.allow_read.empty()),
      std::pair(of_agent ? "allowWrite of the agent" : "--allow-write", !request.allow_write.empty()),
      std::pair("--image", request.image.has_value())};
  for (const auto& [rule, there] : wanted) {
    if (!there) continue;
    const std::string where = rule.starts_with("filesystem.") ? cat({loaded.policy.source, ": "}) : std::string();
    return fail(Error::unsupported(cat({where, rule,
                                        ": backend vm shows nothing of this machine's files; leave it out, "
                                        "or use another backend"})));
  }
  return {};
}

Status check_network(const policy::Network& network) {
  const auto refuse = [](std::string_view what) {
    return fail(Error::unsupported(cat({"backend vm: ", what, "; leave it out, or use another backend"})));
  };
  if (network.mode == policy::NetworkMode::kHost) return refuse("a machine has not this one's network (\"host\")");
  if (!network.allow_unix_sockets.empty()) return refuse("a machine reaches none of this one's Unix sockets");
  return {};
}

Result<bool> has_network(const plan::HostFacts& facts) {
  const host::StateDirs dirs = TRY(host::own_state_dirs(facts.uid, facts.home));
  const store::MachineSettings settings = TRY(store::MachineSettingsFile(dirs.config).read());
  return settings.network != store::MachineSettings::Network::kNone;
}

}  // namespace

Result<OsUserPlace> machine_place(const LoadedPolicy& loaded, const PlaceRequest& request, const plan::HostFacts& facts,
                                  const Residence* residence) {
  TRY(check_files(loaded, request));
  TRY(check_network(loaded.policy.network));
  if (residence != nullptr && residence->cwd.empty()) {
    return fail(Error::unsupported(
        "dir: backend vm shows an agent its own directories alone; leave it out, or use another backend"));
  }
  OsUserPlace place{.facts = facts, .input = {.machine = plan::OsUserInput::Machine::kVirtual}};
  place.facts.uid = kUser;
  place.facts.gid = kUser;
  place.facts.user = residence != nullptr ? residence->user : "agent";
  place.facts.home = residence != nullptr ? residence->home : std::string(kMachineHome);
  if (residence != nullptr && residence->purpose == Residence::Purpose::kInstall) {
    place.facts.uid = place.facts.gid = 0;
    place.facts.user = "root";
    place.facts.home = "/root";
  }
  if (!TRY(has_network(facts))) place.note = "no network: hutch vm config network is none";
  return place;
}

std::vector<std::string> pending_settings(const store::MachineSettings& started, const store::MachineSettings& now,
                                          const store::AgentLimits& limits) {
  std::vector<std::string> pending;
  for (const std::string_view name : store::machine_setting_names()) {
    const bool is_given = (name == "cpus" && !limits.cpus.empty()) || (name == "memoryGB" && !limits.memory.empty());
    if (name == "autoStart" || is_given) continue;
    if (machine_setting_text(started, name) != machine_setting_text(now, name)) pending.emplace_back(name);
  }
  return pending;
}

Status settle_machine_network(policy::BackendKind backend, policy::Network& network, const plan::HostFacts& facts) {
  if (backend != policy::BackendKind::kVm || TRY(has_network(facts))) return {};
  network.mode = policy::NetworkMode::kNone;
  network.allowed_domains.clear();
  network.rules.clear();
  network.allowed_udp.clear();
  network.host_ports.clear();
  network.asking = network.connect_questions = policy::Asking::kNever;
  return {};
}

}  // namespace hutch::service
