// A process of a sandbox, for users of the library.
#include "api/process.h"

#include "api/errors.h"
#include "api/follow.h"
#include "sys/process/signals.h"

namespace hutch {

namespace {

constexpr std::chrono::seconds kInputWait{60};  // for a process that does not read

}  // namespace

SandboxProcess::SandboxProcess(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

const std::string& SandboxProcess::id() const { return impl_->id; }

ProcessInfo SandboxProcess::info() const {
  ProcessInfo info;
  info.id = impl_->id;
  info.command = impl_->process->arguments();
  const auto end = impl_->process->end();
  info.running = !end.has_value();
  if (end) info.exit_code = end->exit_code;
  return info;
}

bool SandboxProcess::kill() {
  if (impl_->process->end()) return false;
  impl_->resident->end(impl_->process, sandbox::EndedBy::kSignal);
  return true;
}

Expected<void> SandboxProcess::write_stdin(std::string_view bytes) {
  // The caller's program may have no handler for it, and it is no fault of its own.
  const sys::BrokenPipeHeld held;
  const auto written = impl_->process->write_input(bytes, sandbox::Process::Clock::now() + kInputWait);
  if (!written) return api::refuse(written.error());
  return {};
}

void SandboxProcess::close_stdin() { impl_->process->close_input(); }

Expected<CommandResult> SandboxProcess::wait(const CommandOptions& options) {
  return api::follow(*impl_->resident, impl_->process, options);
}

ProcessOutput SandboxProcess::output() const { return api::output_of(*impl_->process); }

}  // namespace hutch
