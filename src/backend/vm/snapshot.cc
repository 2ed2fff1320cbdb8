// A machine that has started as far as all do, saved: QEMU Machine Protocol, "migrate" to a file.
#include "backend/vm/snapshot.h"

#include <poll.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "backend/vm/jailed.h"
#include "backend/vm/run_files.h"
#include "base/text.h"
#include "plan/plan.h"
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

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// Without an accelerator, on a busy host.
constexpr std::chrono::seconds kStartWait{180};
constexpr std::chrono::seconds kSaveWait{180};
constexpr std::size_t kSaidMax = 1 << 20;

// The next line of what a descriptor says, without its end.
class Lines {
 public:
  explicit Lines(int fd) : fd_(fd) {}
  Result<std::string> next(Clock::time_point until, std::string_view what);

 private:
  int fd_;
  std::string kept_;
};

Result<std::string> Lines::next(Clock::time_point until, std::string_view what) {
  for (;;) {
    const std::size_t end = kept_.find('\n');
    if (end != kept_.npos) {
      std::string line = kept_.substr(0, end);
      kept_.erase(0, end + 1);
      if (line.ends_with('\r')) line.pop_back();
      return line;
    }
    if (kept_.size() > kSaidMax) return fail(Error::invalid(cat({what, ": a line without an end"})));
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    pollfd wait{fd_, POLLIN, 0};
    if (left.count() <= 0 || TRY(sys::poll({&wait, 1}, left)) == 0) {
      return fail({Code::kTimeout, 0, cat({what, ": nothing more is said"})});
    }
    std::string bytes(4096, '\0');
    const std::size_t size = TRY(sys::read_some(fd_, bytes));
    if (size == 0) return fail({Code::kSystem, 0, cat({what, ": it ended", kept_.empty() ? "" : ": ", kept_})});
    kept_ += bytes.substr(0, size);
  }
}

// QEMU Machine Protocol Specification: a greeting, then for each command an answer; events come between.
class Monitor {
 public:
  explicit Monitor(int fd) : fd_(fd), lines_(fd) {}
  Result<json> ask(const json& command, Clock::time_point until, std::span<const int> descriptors = {});

 private:
  int fd_;
  Lines lines_;
};

Result<json> Monitor::ask(const json& command, Clock::time_point until, std::span<const int> descriptors) {
  TRY(sys::send_all(fd_, command.dump() + "\n", descriptors));
  for (;;) {
    const std::string line = TRY(lines_.next(until, "QEMU"));
    json said = json::parse(line, nullptr, false);
    if (!said.is_object()) return fail(Error::invalid(cat({"QEMU: ", printable(line)})));
    if (said.contains("return")) return json(said["return"]);
    if (said.contains("error")) {
      return fail({Code::kSystem, 0, cat({"QEMU: ", command["execute"].get<std::string>(), ": ", printable(line)})});
    }
  }
}

Status save(int monitor, int file) {
  const auto until = Clock::now() + kSaveWait;
  Monitor qemu(monitor);
  TRY(qemu.ask({{"execute", "qmp_capabilities"}}, until));
  // Not stopped first: whoever goes on from there would be stopped as well.
  TRY(qemu.ask({{"execute", "migrate-set-parameters"}, {"arguments", {{"max-bandwidth", 1ULL << 40}}}}, until));
  TRY(qemu.ask({{"execute", "getfd"}, {"arguments", {{"fdname", "snapshot"}}}}, until, {&file, 1}));
  TRY(qemu.ask({{"execute", "migrate"}, {"arguments", {{"uri", "fd:snapshot"}}}}, until));
  for (;;) {
    const json state = TRY(qemu.ask({{"execute", "query-migrate"}}, until));
    const std::string status = state.value("status", "");
    if (status == "completed") return {};
    if (status == "failed") {
      return fail({Code::kSystem, 0, cat({"QEMU: could not save the machine: ", printable(state.dump())})});
    }
    TRY(sys::pause_briefly());
  }
}

Status await_guest(int console) {
  const auto until = Clock::now() + kStartWait;
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
  // Nobody speaks to the guest yet, but its port has to be connected.
  auto [machine_end, qemu_end] = TRY(sys::socket_pair());
  plan::SandboxPlan jail = jail_plan(of_machine, names, sys::user_id(), sys::group_id());
  jail.seccomp = settings.filter;
  const Instance running =
      TRY(start_jailed(jails, jail, options, qemu_arguments(MachineSize{}, {.network = true, .boot = Boot::kToBeSaved}),
                       {qemu_end.get(), monitor_end.get(), console.write.get()}, "QEMU"));
  TRY(await_guest(console.read.get()));
  const UniqueFd memory = TRY(sys::make_file(sys::kCwd, files.memory, 0600));
  return save(monitor.get(), memory.get());
}

}  // namespace hutch::backend::vm
