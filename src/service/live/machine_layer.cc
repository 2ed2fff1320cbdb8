// Agents' disks, below the data directory. Their names are of the agents' ids: another agent of the same name has none
// of it.
#include "service/live/machine_layer.h"

#include <chrono>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "plan/setup/os_user_places.h"
#include "service/vm/files.h"
#include "sys/files/beneath.h"
#include "sys/files/create.h"
#include "sys/files/files.h"
#include "sys/files/journal.h"
#include "sys/files/tree.h"
#include "sys/files/whole_file.h"

namespace hutch::service {

namespace {

// The rest of its name is the checksum of the system that it lies over.
constexpr std::string_view kDisk = "disk-";
constexpr std::string_view kHosts = "package-hosts";
constexpr const char* kBefore = "before";
constexpr std::size_t kHostsBytesMax = 64 << 10;
constexpr std::chrono::seconds kFlushWait{120};

std::string machine_directory(const store::AgentRecord& agent, const host::StateDirs& dirs) {
  return cat({dirs.data, "/machines/", agent.id});
}

}  // namespace

Result<std::optional<MachineLayer>> machine_layer(const store::AgentRecord& agent, const host::StateDirs& dirs,
                                                  const plan::HostFacts& facts) {
  const std::string place = machine_directory(agent, dirs);
  if (!sys::exists(place)) return std::optional<MachineLayer>();
  const std::string wanted = cat({kDisk, TRY(vm_system(facts))});
  const UniqueFd listing = TRY(sys::open_listing(place));
  bool is_anothers = false;
  for (const sys::TreeEntry& entry : TRY(sys::names_in(listing.get(), place))) {
    if (entry.name.starts_with(kDisk) && entry.name != wanted) is_anothers = true;
  }
  if (is_anothers) {
    return fail({Code::kConflict, 0,
                 cat({"what agent ", agent.name,
                      " has installed lies over another system than is provisioned now; hutch agent reset ", agent.name,
                      " drops it and keeps the home"})});
  }
  MachineLayer layer{.disk = cat({place, "/", wanted}), .package_hosts = {}};
  if (!sys::exists(layer.disk)) return std::optional<MachineLayer>();
  const std::string hosts = TRY(sys::regular_file_text(cat({place, "/", kHosts}), kHostsBytesMax));
  for (const std::string_view host : split(hosts, '\n')) {
    if (!host.empty()) layer.package_hosts.emplace_back(host);
  }
  return std::optional(std::move(layer));
}

void begin_with(const MachineLayer& layer, plan::SandboxPlan& plan) {
  plan.mounts.insert(plan.mounts.begin(), {.kind = plan::MountKind::kImage, .target = "/", .layer = layer.disk});
}

Result<backend::KeptRoot> next_machine_layer(const store::AgentRecord& agent, const host::StateDirs& dirs,
                                             const plan::HostFacts& facts,
                                             const std::vector<std::string>& package_hosts) {
  const std::string place = machine_directory(agent, dirs);
  const std::string system = TRY(vm_system(facts));
  TRY(sys::make_private_directories(place));
  TRY(sys::replace_file(cat({place, "/", kHosts}), join(package_hosts, "\n")));
  return backend::KeptRoot{.image = cat({place, "/", kDisk, system}), .labels = {}};
}

Result<LayerBefore> machine_layer_before(const store::AgentRecord& agent, const host::StateDirs& dirs,
                                         const plan::HostFacts& facts) {
  const std::string place = machine_directory(agent, dirs);
  const std::string disk = cat({place, "/", kDisk, TRY(vm_system(facts))});
  const std::string before = cat({place, "/", kBefore});
  const auto forget = [=] { (void)sys::unlink_at(sys::kCwd, before); };
  forget();
  const bool had = sys::exists(disk);
  if (had) TRY(sys::make_hard_link(sys::kCwd, disk, sys::kCwd, before));
  const auto restore = [=]() -> Status {
    if (had) return sys::rename_file(before, disk);
    return sys::exists(disk) ? sys::unlink_at(sys::kCwd, disk) : Status();
  };
  return LayerBefore{restore, forget};
}

Status flush_disk(sandbox::Resident& machine) {
  const auto process = TRY(machine.spawn({.arguments = {std::string(plan::kGuestOfMachine), "--flush"},
                                          .environment = {},
                                          .cwd = "/",
                                          .timeout = kFlushWait,
                                          .shown = sandbox::ProcessRequest::Shown::kNo},
                                         sandbox::Input::kNone));
  const auto end = process->wait(sandbox::Process::Clock::now() + kFlushWait + 3 * limits::kTermGrace);
  if (end && end->exit_code == 0) return {};
  return fail({Code::kSystem, 0, "the machine did not write its disk"});
}

Result<std::string> remove_machine_layer(const store::AgentRecord& agent, const host::StateDirs& dirs) {
  std::string place = machine_directory(agent, dirs);
  if (agent.id.empty() || !sys::exists(place)) return std::string();
  TRY_CTX(sys::remove_tree(place), "remove what the agent has installed");
  return place;
}

Status remove_machine_layers(const plan::HostFacts& facts) {
  const host::StateDirs dirs = TRY(host::own_state_dirs(facts.uid, facts.home));
  const std::string all = cat({dirs.data, "/machines"});
  return sys::exists(all) ? sys::remove_tree(all) : Status();
}

}  // namespace hutch::service
