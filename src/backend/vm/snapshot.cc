// A machine that has started as far as all do, saved: QEMU Machine Protocol, "migrate" to a file.
#include "backend/vm/snapshot.h"

#include <chrono>
#include <utility>

#include "backend/vm/jailed.h"
#include "backend/vm/machine_devices.h"
#include "backend/vm/monitor.h"
#include "backend/vm/run_files.h"
#include "base/text.h"
#include "plan/plan.h"
#include "sys/channel.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "sys/net/local_socket.h"
#include "sys/process/process.h"
#include "wire/machine_start.h"

namespace hutch::backend::vm {

namespace {

// Without an accelerator, on a busy host.
constexpr std::chrono::seconds kSnapshotStartWait{180};

Status await_guest(int console, std::chrono::seconds limit) {
  const auto until = Lines::Clock::now() + limit;
  Lines said(console);
  for (;;) {
    const std::string line = TRY(said.next(until, "the machine's console"));
    if (line.contains(wire::kMachineWaits)) return {};
    if (line.contains("hutch-guest: ")) return fail({Code::kSystem, 0, printable(line)});
  }
}

// A machine that waits for what makes it one of its own.
struct WaitingMachine {
  RunFiles files;
  UniqueFd console;
  UniqueFd memory;
  Instance running;
  Monitor qemu;
};

// `initramfs` is a path at which nothing is; empty: one that goes with the machine.
Result<WaitingMachine> start_waiting(const VmBackend::Settings& settings, const MachineSize& size,
                                     std::string initramfs, std::chrono::seconds limit, Backend& jails,
                                     const StartOptions& options) {
  RunFiles run = TRY_CTX(RunFiles::make(settings.directory), "make room for the machine");
  if (initramfs.empty()) initramfs = run.file("initramfs");
  const MachineFiles of_machine{settings.kernel, std::move(initramfs), settings.system, run.file("changes")};
  sys::ChildProcess making = TRY(begin_disk(of_machine.changes));
  TRY(write_initramfs(of_machine.initramfs, options.guest_program, settings.modules));
  TRY(await_disk(making));
  const std::vector<SystemName> names = TRY(system_names());
  sys::Pipe console = TRY(sys::pipe());
  TRY(sys::set_nonblocking(console.read.get()));
  auto [monitor, monitor_end] = TRY(sys::socket_pair());
  UniqueFd memory = TRY(new_memory(memory_bytes(size)));
  plan::SandboxPlan jail = jail_plan(of_machine, names, settings.accelerator, sys::user_id(), sys::group_id());
  jail.seccomp = settings.filter;
  Instance running = TRY(start_jailed(jails, jail, options, qemu_arguments(size, settings.accelerator, Boot::kFresh),
                                      {memory.get(), monitor_end.get(), console.write.get()}, "QEMU"));
  monitor_end.reset();
  console.write.reset();
  auto qemu = Monitor::open(std::move(monitor), limit);
  Status begun = qemu ? begin(*qemu) : Status(fail(qemu.error()));
  TRY(with_words_of(std::move(begun), console.read.get()));
  // Nobody speaks to the guest, which waits for that.
  TRY(await_guest(console.read.get(), limit));
  return WaitingMachine{std::move(run), std::move(console.read), std::move(memory), std::move(running),
                        std::move(*qemu)};
}

Status save_point(WaitingMachine& machine, const SnapshotFiles::Point& point) {
  const UniqueFd state = TRY(sys::make_file(sys::kCwd, point.state, 0600));
  TRY(save_state(machine.qemu, state.get()));
  const UniqueFd saved = TRY(sys::make_file(sys::kCwd, point.memory, 0600));
  return sys::copy_content(machine.memory.get(), saved.get(), [] { return Status(); });
}

// It makes its root, and waits again.
Status give_root(WaitingMachine& machine) {
  auto [own_end, qemu_end] = TRY(sys::socket_pair());
  TRY(connect_guest(machine.qemu, qemu_end.get()));
  qemu_end.reset();
  TRY(tell_start(own_end.get(), {.again = true}));
  TRY(with_words_of(await_guest(machine.console.get(), kSnapshotStartWait), machine.console.get()));
  return leave_guest(machine.qemu);
}

}  // namespace

Status prove(const VmBackend::Settings& settings, std::chrono::seconds limit, Backend& jails,
             const StartOptions& options) {
  static constexpr MachineSize kLeast{.cpus = 2, .memory_mib = 256};
  TRY(start_waiting(settings, kLeast, {}, limit, jails, options));
  return {};
}

Status save_snapshot(const VmBackend::Settings& settings, const SnapshotFiles& files, Backend& jails,
                     const StartOptions& options) {
  WaitingMachine machine =
      TRY(start_waiting(settings, settings.usual, files.initramfs, kSnapshotStartWait, jails, options));
  TRY(save_point(machine, files.early));
  TRY(begin(machine.qemu));
  TRY(give_root(machine));
  TRY(save_point(machine, files.rooted));
  return copy_changes(machine.files.file("changes"), files.changes);
}

}  // namespace hutch::backend::vm
