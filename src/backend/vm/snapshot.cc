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
#include "sys/beneath.h"
#include "sys/channel.h"
#include "sys/files.h"
#include "sys/identity.h"
#include "sys/io.h"
#include "sys/local_socket.h"
#include "sys/process.h"
#include "sys/tree.h"
#include "wire/machine_start.h"

namespace hutch::backend::vm {

namespace {

// Without an accelerator, on a busy host.
constexpr std::chrono::seconds kStartWait{180};

Status await_guest(int console) {
  const auto until = Lines::Clock::now() + kStartWait;
  Lines said(console);
  for (;;) {
    const std::string line = TRY(said.next(until, "the machine's console"));
    if (line.contains(wire::kMachineWaits)) return {};
    if (line.contains("hutch-guest: ")) return fail({Code::kSystem, 0, printable(line)});
  }
}

}  // namespace

Status save_snapshot(const VmBackend::Settings& settings, const SnapshotFiles& files, Backend& jails,
                     const StartOptions& options) {
  const RunFiles run = TRY_CTX(RunFiles::make(settings.directory), "make room for the machine");
  const MachineFiles of_machine{settings.kernel, files.initramfs, settings.system, run.file("changes")};
  TRY(make_changes(of_machine.changes));
  TRY(write_initramfs(of_machine.initramfs, options.guest_program, settings.modules));
  const std::vector<SystemName> names = TRY(system_names());
  const sys::Pipe console = TRY(sys::pipe());
  auto [monitor, monitor_end] = TRY(sys::socket_pair());
  const MachineSize& size = settings.usual;
  const UniqueFd memory = TRY(new_memory(memory_bytes(size)));
  plan::SandboxPlan jail = jail_plan(of_machine, names, sys::user_id(), sys::group_id());
  jail.seccomp = settings.filter;
  const Instance running = TRY(start_jailed(jails, jail, options, qemu_arguments(size, Boot::kFresh),
                                            {memory.get(), monitor_end.get(), console.write.get()}, "QEMU"));
  monitor_end.reset();
  Monitor qemu = TRY(Monitor::open(std::move(monitor), kStartWait));
  TRY(begin(qemu));
  // Nobody speaks to the guest, which waits for that.
  TRY(await_guest(console.read.get()));
  const UniqueFd state = TRY(sys::make_file(sys::kCwd, files.state, 0600));
  TRY(save_state(qemu, state.get()));
  const UniqueFd saved = TRY(sys::make_file(sys::kCwd, files.memory, 0600));
  return sys::copy_content(memory.get(), saved.get(), [] { return Status(); });
}

}  // namespace hutch::backend::vm
