// The guest as the first process of a virtual machine.
#include "guest/machine/machine.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/ip_address.h"
#include "base/text.h"
#include "guest/machine/clock_teller.h"
#include "guest/machine/module_image.h"
#include "guest/machine/relay.h"
#include "guest/setup/account.h"
#include "plan/make/machine_address.h"
#include "plan/plan.h"
#include "plan/setup/os_user_places.h"
#include "sys/channel.h"
#include "sys/files/beneath.h"
#include "sys/files/create.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/mounts.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "sys/machine.h"
#include "sys/process/lockdown.h"
#include "sys/process/process.h"
#include "sys/process/signals.h"
#include "wire/machine_start.h"
#include "wire/message.h"

namespace hutch::guest {

namespace {

// Of the relay on the host's side.
constexpr int kMachineFd = 3;
constexpr int kLifelineFd = 4;

// Of the file system that the kernel unpacks at its start (backend/vm/initramfs.cc makes it).
constexpr const char* kModules = "/modules";
constexpr std::size_t kModuleBytesMax = 64 << 20;
constexpr const char* kSystem = "/system";  // the image, read-only
constexpr const char* kChanges = "/changes";
constexpr const char* kRoot = "/root";
// The first and the second disk.
constexpr const char* kSystemDisk = "/dev/vda";
constexpr const char* kChangesDisk = "/dev/vdb";
constexpr std::string_view kPortName = "hutch";
constexpr int kPortTries = 500;
// Directories of the host's, by number (backend/vm/jail.h). What they lie in is closed to commands: each has the ones
// that are meant for it, where its plan says.
constexpr const char* kAboveShares = "/shares";
constexpr const char* kShares = "/shares/all";
// Devices come while the machine starts: without an accelerator, on a busy host.
constexpr std::chrono::seconds kDeviceWait{60};
constexpr const char* kWorkspace = "/workspace";
constexpr std::string_view kAccount = "agent";
constexpr std::uint32_t kUser = 1000;

struct Place {
  const char* type;
  const char* target;
  const char* mode;
};
constexpr std::array kKernelFileSystems = {Place{"devtmpfs", "/dev", ""}, Place{"proc", "/proc", ""},
                                           Place{"sysfs", "/sys", ""}};
// Of the system that is made: what programs expect in /dev, and a /run of the machine's own.
constexpr std::array kSystems = {Place{"devpts", "/dev/pts", "0620"}, Place{"tmpfs", "/dev/shm", "1777"},
                                 Place{"mqueue", "/dev/mqueue", ""}, Place{"tmpfs", "/run", "0755"},
                                 Place{"tmpfs", "/tmp", "1777"}};

Status mount_on(const std::string& type, const sys::MountOptions& options, sys::MountFlags flags, const char* target) {
  const UniqueFd tree = TRY(sys::new_file_system(type, options, flags));
  const UniqueFd onto = TRY(sys::open(target, sys::Open::kPath));
  return sys::attach(tree.get(), onto.get(), target);
}

Status make_if_absent(const char* path, unsigned mode) {
  return sys::exists(path) ? Status() : sys::make_directory(sys::kCwd, path, mode);
}

template <std::size_t N>
Status mount_all(const std::array<Place, N>& places) {
  for (const Place& place : places) {
    TRY(make_if_absent(place.target, 0755));
    const std::string mode = place.mode;
    const sys::MountOptions options = mode.empty() ? sys::MountOptions() : sys::MountOptions{{"mode", mode}};
    TRY(mount_on(place.type, options, {}, place.target));
  }
  return {};
}

Result<std::vector<sys::TreeEntry>> names_of(const std::string& directory) {
  const UniqueFd listing = TRY(sys::open_listing(directory));
  return sys::names_in(listing.get(), directory);
}

// In the order of their names.
Status load_modules() {
  auto names = TRY(names_of(kModules));
  std::ranges::sort(names, {}, &sys::TreeEntry::name);
  for (const sys::TreeEntry& entry : names) {
    const std::string path = cat({kModules, "/", entry.name});
    // A kernel may want those alone that are signed: then as they are.
    const Status loaded = sys::load_module_image(without_types(TRY(sys::read_file(path, kModuleBytesMax))));
    if (!loaded) TRY(sys::load_module(path));
  }
  return {};
}

// This program, which commands have as hutch-host: the files that the kernel unpacked are out of reach by then.
Status place_guest(int tree) {
  const std::string target(plan::kGuestOfMachine);
  TRY(sys::make_file(sys::kCwd, target, 0755));
  const UniqueFd onto = TRY(sys::open(target, sys::Open::kPath));
  return sys::attach(tree, onto.get(), target);
}

// The image with what was changed of it over it.
Status make_root() {
  for (const char* directory : {kSystem, kChanges, kRoot}) TRY(make_if_absent(directory, 0755));
  TRY(mount_on("squashfs", {{"source", kSystemDisk}, {"ro", ""}}, {.read_only = true}, kSystem));
  // What it cannot write, for this machine's host has no room, would be lost in silence: it ends, and says why.
  TRY(mount_on("ext4", {{"source", kChangesDisk}, {"errors", "panic"}, {"data_err", "abort"}}, {}, kChanges));
  const std::string upper = cat({kChanges, "/upper"});
  const std::string work = cat({kChanges, "/work"});
  TRY(make_if_absent(upper.c_str(), 0755));
  TRY(make_if_absent(work.c_str(), 0700));
  TRY(mount_on("overlay", {{"source", "hutch"}, {"lowerdir", kSystem}, {"upperdir", upper}, {"workdir", work}}, {},
               kRoot));
  for (const Place& place : kKernelFileSystems) {
    const std::string target = cat({kRoot, place.target});
    TRY(make_if_absent(target.c_str(), 0755));
    const UniqueFd tree = TRY(sys::clone_tree_at(place.target));
    const UniqueFd onto = TRY(sys::open(target, sys::Open::kPath));
    TRY(sys::attach(tree.get(), onto.get(), target));
  }
  TRY(sys::change_directory(kRoot));
  return sys::move_root_to_cwd();
}

// What commands are, and where they work (service/vm/machine_place.cc). The image may have somebody of that number.
Status make_workspace() {
  TRY(make_if_absent(kWorkspace, 0700));
  const UniqueFd place = TRY(sys::open(kWorkspace, sys::Open::kReadDirectory));
  TRY(sys::set_owner(place.get(), {kUser, kUser}));
  const UniqueFd root = TRY(sys::open_exact("/"));
  const auto line = [](std::string_view text) { return cat({kAccount, ":x:", std::to_string(kUser), ":", text}); };
  TRY(add_account(root.get(), {.kind = plan::MountKind::kAccount,
                               .target = "/etc/passwd",
                               .source = line(cat({std::to_string(kUser), "::", kWorkspace, ":/bin/sh"}))}));
  return add_account(root.get(), {.kind = plan::MountKind::kAccount, .target = "/etc/group", .source = line("")});
}

// Again and again until the device is there, which fails as `is_missing` says while it is not.
template <class Try, class IsMissing>
Status await_device(Try attempt, IsMissing is_missing) {
  const auto until = std::chrono::steady_clock::now() + kDeviceWait;
  for (;;) {
    Status done = attempt();
    if (done || !is_missing(done.error()) || std::chrono::steady_clock::now() >= until) return done;
    TRY(sys::pause_briefly());
  }
}

Status join_network() {
  const auto raise = [] {
    return sys::raise_interface("eth0", *parse_ip(plan::kAddressOfMachine), *parse_ip(plan::kHostOfMachine));
  };
  TRY(await_device(raise, [](const Error& error) { return error.code == Code::kNotFound; }));
  static constexpr const char* kResolver = "/etc/resolv.conf";
  TRY(make_if_absent("/etc", 0755));
  // In an image it may be a link to where a service of the system would write.
  const Status removed = sys::unlink_at(sys::kCwd, kResolver);
  if (!removed && removed.error().sys_errno != ENOENT) return removed;
  const UniqueFd file = TRY(sys::make_file(sys::kCwd, kResolver, 0644));
  return sys::write_all(file.get(), cat({"nameserver ", plan::kDnsOfMachine, "\n"}));
}

// The server's tag is its device's name. What of them is where, plans say.
Status mount_shares() {
  TRY(make_if_absent(kAboveShares, 0700));
  TRY(make_if_absent(kShares, 0700));
  const auto mount = [] { return mount_on("virtiofs", {{"source", "hutch"}}, {}, kShares); };
  // A tag that nobody has is an invalid argument (fs/fuse/virtio_fs.c).
  return await_device(mount, [](const Error& error) { return error.sys_errno == EINVAL; });
}

// The kernel says its name some moments after the driver is there.
Result<UniqueFd> open_port() {
  static const std::string kPorts = "/sys/class/virtio-ports";
  for (int tries = 0; tries < kPortTries; ++tries) {
    const auto ports = names_of(kPorts);
    for (const sys::TreeEntry& port : ports.value_or(std::vector<sys::TreeEntry>())) {
      const auto name = sys::read_file(cat({kPorts, "/", port.name, "/name"}), 64);
      if (!name || !name->starts_with(kPortName)) continue;
      return sys::open_device(cat({"/dev/", port.name}));
    }
    TRY(sys::pause_briefly());
  }
  return fail(Error::not_found("no port to the host"));
}

// Where machines are alike still, and one may be saved: before it looks at its disks, and with its root. Whoever goes
// on from there says what time it is by then, what no other machine has, and what there is to wait for.
Result<wire::MachineStart> await_start(int port) {
  TRY(sys::write_all(1, cat({wire::kMachineWaits, "\n"})));
  std::string bytes;
  while (bytes.size() < wire::kMachineStartBytes) {
    pollfd wait{port, POLLIN, 0};
    TRY(sys::poll({&wait, 1}, std::nullopt));
    std::string more(wire::kMachineStartBytes - bytes.size(), '\0');
    const auto size = (wait.revents & POLLIN) != 0 ? sys::read_some(port, more) : Result<std::size_t>(0);
    if (!size && size.error().sys_errno != EAGAIN) return fail(size.error());
    // Before the host has connected, the port tells an end; in the moment in which it does, that there is nothing.
    if (size.value_or(0) == 0) TRY(sys::pause_briefly());
    bytes += more.substr(0, size.value_or(0));
  }
  const wire::MachineStart start = TRY(wire::decode_machine_start(bytes));
  TRY(sys::set_clock(start.clock_ns));
  TRY(sys::renew_randomness(start.entropy));
  return start;
}

Result<UniqueFd> start_guest() {
  auto [host_end, guest_end] = TRY(sys::socket_pair());
  const std::vector<std::pair<int, int>> install{{guest_end.get(), 0}};
  auto process = TRY(
      sys::spawn("/proc/self/exe", {.arguments = {"hutch-guest", "--os-user"}, .environment = {}, .install = install}));
  process.leave();
  return std::move(host_end);
}

// While this machine, or the one that it is on, stood still, its clock may have too.
Status hear_clock(std::int64_t clock_ns) {
  const auto wrong = clock_to_set(ClockTeller::Now::read().wall, clock_ns);
  return wrong ? sys::set_clock(*wrong) : Status();
}

// What all machines have of their own.
Status make_system() {
  const UniqueFd guest = TRY(sys::clone_tree_at("/init"));
  TRY_CTX(make_root(), "make the root");
  TRY(mount_all(kSystems));
  TRY_CTX(place_guest(guest.get()), "place hutch-guest");
  TRY_CTX(make_workspace(), kWorkspace);
  TRY(sys::set_hostname("hutch"));
  return sys::raise_loopback();
}

Status live_as_machine() {
  TRY(mount_all(kKernelFileSystems));
  TRY(sys::block_all_signals());
  TRY(sys::forget_children());
  TRY(load_modules());
  UniqueFd port = TRY(open_port());
  wire::MachineStart start = TRY_CTX(await_start(port.get()), "wait for the host");
  TRY(make_system());
  if (start.again) start = TRY_CTX(await_start(port.get()), "wait for the host");
  if (start.directories) TRY_CTX(mount_shares(), "the host's directories");
  if (start.network) TRY_CTX(join_network(), "the network");
  Relay relay(
      {.side = Relay::Side::kMachine, .stream = std::move(port), .start_guest = start_guest, .hear_clock = hear_clock});
  return relay.run();
}

}  // namespace

void serve_machine() {
  const Status lived = live_as_machine();
  // The console, which the host keeps for whoever wants to know.
  if (!lived) (void)sys::write_all(1, cat({"hutch-guest: ", lived.error().message, "\n"}));
  sys::power_off();
}

int serve_relay() {
  const auto serve = []() -> Status {
    TRY(sys::close_from(kLifelineFd + 1));
    TRY(sys::block_all_signals());
    TRY(sys::die_with_parent());
    Relay relay({.side = Relay::Side::kHost, .stream = UniqueFd(kMachineFd), .lifeline = UniqueFd(kLifelineFd)});
    UniqueFd guest = TRY(sys::duplicate(0));
    TRY(relay.add_guest(std::move(guest)));
    TRY(relay.run());
    return relay.is_closed() ? Status(fail({Code::kSystem, 0, "the virtual machine ended"})) : Status();
  };
  const Status served = serve();
  if (served) return 0;
  // In the guest's place, which says nothing any more.
  (void)sys::send_all(0, wire::encode(wire::ToHost(wire::Failed{served.error()})), {});
  return 125;
}

}  // namespace hutch::guest
