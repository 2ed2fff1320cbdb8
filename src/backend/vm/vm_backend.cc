// Backend `vm`.
#include "backend/vm/vm_backend.h"

#include <array>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "backend/guest_process.h"
#include "backend/vm/jailed.h"
#include "backend/vm/machine_devices.h"
#include "backend/vm/monitor.h"
#include "backend/vm/run_files.h"
#include "base/text.h"
#include "plan/setup/os_user_places.h"
#include "sys/channel.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/journal.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "sys/net/local_socket.h"
#include "sys/process/process.h"
#include "wire/machine_start.h"

namespace hutch::backend::vm {

namespace {

constexpr std::chrono::seconds kPatience{60};  // with QEMU, on a busy host

// What has to live as long as the machine does; the last one ends first.
struct Machine {
  RunFiles files;
  std::optional<Instance> file_server{};
  std::optional<Instance> jail{};
  sys::ChildProcess relay{};
  UniqueFd lifeline{};  // the relay's end of the machine: where there are no shares nobody else holds it
};

// The directories of the host's that a plan binds; in `plan` they are then where the machine has them.
Result<std::vector<SharedDirectory>> take_shares(plan::SandboxPlan& plan) {
  std::vector<SharedDirectory> shares;
  for (plan::MountStep& step : plan.mounts) {
    if (step.kind != plan::MountKind::kBind || step.source == plan::kGuestOfMachine) continue;
    if (step.make == plan::MakeTarget::kFile) {
      return fail(Error::unsupported(cat({printable(step.source), ": a machine shares directories, and no file"})));
    }
    shares.push_back({step.source, step.access, step.identity});
    step.source = share_inside(shares.size() - 1);
    step.identity = {};
  }
  return shares;
}

// The disk that the plan begins with, where it does; in `plan` it is then no step any more.
std::string take_layer(plan::SandboxPlan& plan) {
  if (plan.mounts.empty() || plan.mounts.front().kind != plan::MountKind::kImage) return {};
  std::string layer = std::move(plan.mounts.front().layer);
  plan.mounts.erase(plan.mounts.begin());
  return layer;
}

// The disk of what is changed: as it was kept, else one that a process makes meanwhile.
Result<sys::ChildProcess> begin_changes(const std::string& layer, const SnapshotFiles* saved, const std::string& path) {
  if (layer.empty() && saved == nullptr) return begin_disk(path);
  TRY(copy_changes(layer.empty() ? saved->changes : layer, path));
  return sys::ChildProcess();
}

// One with a root has a disk of its own: with another it would go by what it knows of that.
const SnapshotFiles::Point* point_of(const SnapshotFiles* saved, const std::string& layer) {
  if (saved == nullptr) return nullptr;
  return layer.empty() ? &saved->rooted : &saved->early;
}

// A socket that listens, and another that has connected to it; its name is gone.
Result<std::pair<UniqueFd, UniqueFd>> connected_listener(const RunFiles& files) {
  static constexpr const char* kName = "files";
  const UniqueFd directory = TRY(sys::open(files.path(), sys::Open::kPath));
  UniqueFd listener = TRY(sys::listen_beneath(directory.get(), kName));
  UniqueFd connected = TRY(sys::connect_beneath(directory.get(), kName));
  TRY(sys::unlink_at(directory.get(), kName));
  return std::pair(std::move(listener), std::move(connected));
}

// What a machine's processors work on: nothing yet, or what a saved one has.
Status fill_memory(int memory, const SnapshotFiles::Point* saved) {
  if (saved == nullptr) return {};
  const UniqueFd from = TRY(sys::open(saved->memory, sys::Open::kRead));
  return sys::copy_content(from.get(), memory, [] { return Status(); });
}

// Its devices come while it starts.
struct Given {
  const SnapshotFiles::Point* saved = nullptr;
  int file_server = -1;
  bool network = false;
  int guest = -1;
};

// QEMU's jail has the network of the sandbox, in which the machine's own is what there is; whether it has one.
bool give_network(plan::SandboxPlan& in_machine, plan::SandboxPlan& jail) {
  if (in_machine.network != plan::NetworkKind::kGateway) return false;
  jail.network = in_machine.network;
  jail.host_ports = in_machine.host_ports;
  jail.udp = in_machine.udp;
  in_machine.network = plan::NetworkKind::kHost;
  return true;
}

Status set_going(UniqueFd monitor, const Given& given) {
  Monitor qemu = TRY(Monitor::open(std::move(monitor), kPatience));
  if (given.saved != nullptr) {
    const UniqueFd state = TRY(sys::open(given.saved->state, sys::Open::kRead));
    TRY(go_on_from(qemu, state.get()));
  }
  if (given.file_server >= 0) TRY(plug_files(qemu, given.file_server));
  if (given.network) TRY(plug_card(qemu));
  if (given.saved == nullptr) TRY(begin(qemu));
  return connect_guest(qemu, given.guest);
}

// Carries the guest's stream across; `lifeline` ends with what the machine cannot be without.
Result<sys::ChildProcess> start_relay(const StartOptions& options, int guest, int machine, int lifeline) {
  auto relay = TRY(sys::spawn(options.guest_program, {.arguments = {"hutch-guest", "--relay"},
                                                      .environment = {},
                                                      .install = {{guest, 0}, {machine, 3}, {lifeline, 4}}}));
  if (options.admit) TRY(options.admit(relay.pid()));
  return relay;
}

// QEMU has them open still, by whatever name.
Status keep_changes(const Machine& machine, const std::string& as) {
  return sys::rename_file(machine.files.file("changes"), as);
}

// Until it has its plan, and goes by it.
Status begin_guest(wire::Connection& guest, const plan::SandboxPlan& plan, const StartOptions& options) {
  StartOptions own = options;
  own.landlock_abi = 0;
  TRY(send_start(guest, wire::Isolation::kOsUser, plan, own));
  TRY(expect(guest, "the machine"));
  return {};
}

// It goes with the instance.
void hold(std::shared_ptr<Machine> machine, Instance& instance) {
  instance.network = std::move(machine->jail->network);
  instance.network_sockets = std::move(machine->jail->network_sockets);
  instance.remove = [machine]() -> Status { return {}; };
  instance.keep_root = [machine](const KeptRoot& kept) { return keep_changes(*machine, kept.image); };
}

Result<FileServer> file_server_here() {
  for (const FileServer& server : kFileServers) {
    if (sys::exists(server.program)) return server;
  }
  return fail(
      Error::unsupported("directories are given to a machine by virtiofsd, which is missing; apt-get install "
                         "virtiofsd, or, where there is "
                         "no such package, qemu-system-common"));
}

}  // namespace

Guarantees VmBackend::guarantees() const {
  Guarantees guarantees = {
      .holds =
          {"another kernel: a hole in a system call ends in the machine, not on this one",
           "of this machine's files the system that it was provisioned with is there, read-only, and the "
           "directories that it is given",
           "those are served by a process that has nothing else, and that makes files as their owner alone, none "
           "of them a device or with another's rights",
           "no network but what the gateway lets through",
           "QEMU has no other network, no home and no capability either, behind its own filter of system calls and "
           "hutch's",
           "in the machine the command is an ordinary user, in namespaces of its own"},
      .open = {"emulation of devices by QEMU is what is attacked first; a fault there meets QEMU's jail",
               "timing, load and memory pressure of the machine can be felt"}};
  if (settings_.accelerator == Accelerator::kKvm) {
    guarantees.open.emplace_back(
        "KVM of this machine's kernel runs the processors: a fault there is one of this kernel's");
  }
  return guarantees;
}

Result<Instance> VmBackend::start(const plan::SandboxPlan& plan, const StartOptions& options) {
  const MachineSize size = TRY(machine_size(plan.limits, settings_.usual));
  plan::SandboxPlan in_machine = plan;
  const std::string layer = take_layer(in_machine);
  const std::vector<SharedDirectory> shares = TRY(take_shares(in_machine));
  RunFiles files = TRY_CTX(RunFiles::make(settings_.directory), "make room for the machine");
  const SnapshotFiles* saved = settings_.snapshot && size == settings_.usual ? &*settings_.snapshot : nullptr;
  const MachineFiles of_machine{settings_.kernel, saved != nullptr ? saved->initramfs : files.file("initramfs"),
                                settings_.system, files.file("changes")};
  const SnapshotFiles::Point* begins_at = point_of(saved, layer);
  sys::ChildProcess making = TRY(begin_changes(layer, saved, of_machine.changes));
  if (saved == nullptr) TRY(write_initramfs(of_machine.initramfs, options.guest_program, settings_.modules));
  const UniqueFd memory = TRY_CTX(new_memory(memory_bytes(size)), "the machine's memory");
  // QEMU starts meanwhile: it looks at none of it before it is told to go on.
  auto filled = std::async(std::launch::async, [&] { return fill_memory(memory.get(), begins_at); });
  const std::vector<SystemName> names = TRY(system_names());
  sys::Pipe console = TRY(sys::pipe());
  TRY(sys::set_nonblocking(console.read.get()));
  sys::Pipe lifeline = TRY(sys::pipe());
  UniqueFd file_server;
  auto machine = std::make_shared<Machine>(std::move(files));
  if (!shares.empty()) {
    const FileServer server = TRY(file_server_here());
    plan::SandboxPlan jail = file_server_plan(server, shares, names, sys::user_id(), sys::group_id());
    jail.seccomp = settings_.file_server_filter;
    auto [listener, connected] = TRY_CTX(connected_listener(machine->files), "the file server's socket");
    const std::array streams = {listener.get(), lifeline.write.get(), console.write.get()};
    machine->file_server.emplace(
        TRY(start_jailed(*jails_, jail, options, file_server_arguments(server), streams, "the file server")));
    file_server = std::move(connected);
  } else {
    machine->lifeline = std::move(lifeline.write);
  }
  lifeline.write.reset();
  plan::SandboxPlan jail = jail_plan(of_machine, names, settings_.accelerator, sys::user_id(), sys::group_id());
  jail.seccomp = settings_.filter;
  jail.process_limits = settings_.process_limits;
  jail.user_counts = settings_.user_counts;
  const bool network = give_network(in_machine, jail);
  auto [monitor, monitor_end] = TRY(sys::socket_pair());
  auto [machine_end, qemu_end] = TRY(sys::socket_pair());
  {
    const std::array streams = {memory.get(), monitor_end.get(), console.write.get()};
    const auto arguments = qemu_arguments(size, settings_.accelerator, saved != nullptr ? Boot::kSaved : Boot::kFresh);
    TRY(await_disk(making));
    machine->jail.emplace(TRY(start_jailed(*jails_, jail, options, arguments, streams, "QEMU")));
  }
  monitor_end.reset();
  console.write.reset();
  const Given given{begins_at, file_server ? file_server.get() : -1, network, qemu_end.get()};
  TRY(tell_start(machine_end.get(), {.network = network, .directories = given.file_server >= 0}));
  TRY_CTX(filled.get(), "the machine's memory");
  TRY(with_words_of(set_going(std::move(monitor), given), console.read.get()));
  qemu_end.reset();
  file_server.reset();
  auto [host_end, relay_end] = TRY(sys::socket_pair());
  machine->relay = TRY(start_relay(options, relay_end.get(), machine_end.get(), lifeline.read.get()));
  relay_end.reset();
  machine_end.reset();
  lifeline.read.reset();
  Instance instance{.guest = wire::Connection(std::move(host_end)), .process = std::move(machine->jail->process)};
  TRY(with_words_of(begin_guest(instance.guest, in_machine, options), console.read.get()));
  instance.console = std::move(console.read);
  hold(std::move(machine), instance);
  return instance;
}

}  // namespace hutch::backend::vm
