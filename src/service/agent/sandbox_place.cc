// A tool's place, by an agent's sandbox.
#include "service/agent/sandbox_place.h"

#include <signal.h>

#include <algorithm>
#include <iterator>
#include <stop_token>

#include "base/limits.h"
#include "base/text.h"
#include "sandbox/resident/process.h"
#include "service/agent/system.h"
#include "service/common/scrubbed_output.h"

namespace hutch::service {

namespace {

using sandbox::OutputStream;
using sandbox::Process;
using std::chrono::milliseconds;

// Beyond a command's own limit: TERM, the grace, KILL, and what the machine takes for it.
constexpr milliseconds kEndWait = 10 * limits::kTermGrace;
constexpr milliseconds kFollowSlice{1000};

tool::Kept kept_output(const sandbox::Capture& capture) {
  return {capture.head(), std::string(capture.tail()), capture.bytes_left_out()};
}

tool::ProcessState state_of(const Process& process, const secret::Scrubber& scrubber) {
  tool::ProcessState state;
  state.id = process.id();
  state.arguments = process.arguments();
  state.log_file = process.log_name();
  const auto end = process.end();
  state.running = !end.has_value();
  if (end) state.end = command_end(process, *end, scrubber);
  // What has come by now ends wherever a buffer was full.
  const secret::Cut cut = end ? cut_of(*end) : secret::Cut::kEnd;
  state.output = kept_output(process.captured(OutputStream::kOutput));
  state.error = kept_output(process.captured(OutputStream::kError));
  scrub(scrubber, state.output, cut);
  scrub(scrubber, state.error, cut);
  return state;
}

bool is_failure_of_git(const tool::CommandEnd& end) {
  return end.exit_code != 0 && (end.error.whole() + end.output.whole()).contains("git repository");
}

}  // namespace

tool::CommandEnd command_end(const Process& process, const sandbox::ProcessEnd& end, const secret::Scrubber& scrubber) {
  tool::CommandEnd result;
  result.exit_code = end.exit_code;
  result.signal = end.signal;
  result.timed_out = sandbox::is_timeout(end.ended_by);
  result.killed = sandbox::is_killed(end.ended_by) && !result.timed_out;
  result.duration = end.duration;
  result.output = kept_output(process.captured(OutputStream::kOutput));
  result.error = kept_output(process.captured(OutputStream::kError));
  scrub(scrubber, result.output, cut_of(end));
  scrub(scrubber, result.error, cut_of(end));
  for (const std::string& refusal : end.refusals) result.refusals.push_back(scrubber.scrub(refusal));
  result.refused_hosts = end.refused_hosts;
  // Behind that end: it would not be one any more.
  if (!end.reason.empty()) result.error.tail += cat({scrubber.scrub(end.reason), "\n"});
  return result;
}

void follow_output(const Process& process, const std::function<void(tool::Stream, std::string_view)>& on_output) {
  std::uint64_t next[2] = {0, 0};
  const auto changed = process.notice(Process::Notice::kChange);
  for (bool over = false; !over;) {
    over = process.end().has_value();
    for (const auto stream : {OutputStream::kOutput, OutputStream::kError}) {
      const auto index = static_cast<std::size_t>(stream);
      const Process::Read read = process.read(stream, next[index], Process::Clock::now());
      next[index] = read.piece.next;
      const auto as = stream == OutputStream::kOutput ? tool::Stream::kOutput : tool::Stream::kError;
      if (!read.piece.bytes.empty()) on_output(as, read.piece.bytes);
    }
    if (over) return;
    if (changed) Process::await(changed->get(), kFollowSlice);
  }
}

Result<std::shared_ptr<Process>> SandboxPlace::start(const tool::Command& command) {
  if (command.user == tool::User::kRoot)
    return fail(Error::unsupported("root of a sandbox has nothing in the background"));
  TRY(await_start(command.timeout.count() > 0 ? command.timeout : patience_));
  sandbox::ProcessRequest request = TRY(agent_.request(command.arguments, command.cwd, command.environment));
  request.timeout = command.timeout;
  if (command.error == tool::ErrorStream::kIntoOutput) request.error = sandbox::ErrorStream::kIntoOutput;
  const auto resident = TRY(agent_.resident());
  if (!command.log_file.empty()) request.log = TRY(agent_.make_log(command.log_file));
  const auto input = command.input.empty() ? sandbox::Input::kNone : sandbox::Input::kWritten;
  auto process = TRY(resident->spawn(std::move(request), input));
  if (!command.input.empty()) {
    // A command that reads none of it, or not all, is no failure of ours.
    (void)process->write_input(command.input, Process::Clock::now() + std::max(command.timeout, kFollowSlice));
    process->close_input();
  }
  return process;
}

Result<tool::CommandEnd> SandboxPlace::run(const tool::Command& command) {
  if (command.user == tool::User::kRoot) return run_as_root(command);
  const auto process = TRY(start(command));
  // Absent where the sandbox has been stopped meanwhile, and the process with it.
  tool::CommandEnd end = TRY(await_command(command, process, agent_.running(), agent_.secrets()));
  if (is_failure_of_git(end)) end.remark = agent_.terms().no_repository;
  return end;
}

// What the agent may change of its environment is not for root: nothing of its home, no variable of its login shell.
Result<tool::CommandEnd> SandboxPlace::run_as_root(const tool::Command& command) {
  TRY(await_start(command.timeout.count() > 0 ? command.timeout : patience_));
  if (!installation_) installation_.emplace(TRY(agent_.begin_install(patience_)));
  const KeptSandbox::Terms terms = installation_->terms();
  sandbox::ProcessRequest request;
  request.arguments = command.arguments;
  request.environment = terms.environment;
  std::ranges::copy(command.environment, std::back_inserter(request.environment));
  request.cwd = terms.cwd;
  request.timeout = command.timeout;
  request.processes_max = terms.processes_max;
  request.address_space_max = terms.address_space_max;
  const auto process = TRY(installation_->resident()->spawn(std::move(request), sandbox::Input::kNone));
  return await_command(command, process, installation_->resident(), agent_.secrets());
}

Status SandboxPlace::keep_system() { return installation_ ? agent_.keep_installed() : Status(); }

// Not where another image is set already: a new start is what it lacks.
bool SandboxPlace::can_get_system() const { return lacks_system(agent_.record()) && lacks_system(agent_.next()); }

Result<tool::CommandEnd> await_command(const tool::Command& command, const std::shared_ptr<Process>& process,
                                       const std::shared_ptr<sandbox::Resident>& resident, GivenSecrets& secrets) {
  const std::stop_callback cancelled(command.stop, [&] {
    if (resident) resident->end(process, sandbox::EndedBy::kSignal);
  });
  if (command.on_output) {
    const auto scrubber = secrets.scrubber();
    ScrubbedOutput output(*scrubber, command.on_output);
    follow_output(*process, [&](tool::Stream stream, std::string_view bytes) { output.take(stream, bytes); });
    const auto ended = process->end();
    output.finish(ended ? cut_of(*ended) : secret::Cut::kEnd);
  }
  const bool limited = command.timeout.count() > 0;
  const auto until = Process::Clock::now() + (limited ? command.timeout + kEndWait : std::chrono::hours(24 * 365));
  const auto end = process->wait(until);
  if (!end) return fail(Error{Code::kTimeout, 0, "the command does not end"});
  return command_end(*process, *end, *secrets.scrubber());
}

Result<std::string> SandboxPlace::spawn(const tool::Command& command) { return TRY(start(command))->id(); }

Result<std::shared_ptr<Process>> SandboxPlace::find(const std::string& id) {
  std::shared_ptr<Process> process;
  if (const auto resident = agent_.running()) process = resident->find(id);
  if (!process) return fail(Error::not_found(cat({"there is no process ", printable(id, 32)})));
  return process;
}

Result<tool::ProcessState> SandboxPlace::poll(const std::string& id) {
  const auto process = TRY(find(id));
  return state_of(*process, *agent_.secrets().scrubber());
}

Result<tool::ProcessState> SandboxPlace::wait(const std::string& id, milliseconds at_most) {
  const auto process = TRY(find(id));
  (void)process->wait(Process::Clock::now() + at_most);
  return poll(id);
}

Result<bool> SandboxPlace::kill(const std::string& id, int number) {
  const auto process = TRY(find(id));
  if (process->end()) return false;
  const auto resident = agent_.running();
  if (!resident) return false;
  if (number == SIGKILL) TRY(resident->signal(*process, SIGKILL, wire::SignalTarget::kTree));
  resident->end(process, sandbox::EndedBy::kSignal);
  return true;
}

Result<wire::FileReply> SandboxPlace::file(const wire::FileRequest& request) {
  TRY(await_start(patience_));
  return agent_.file(request);
}

Status SandboxPlace::await_start(milliseconds patience) {
  if (start_error_) return fail(*start_error_);
  const auto ready = agent_.await(began_ + patience, stop_);
  if (ready && *ready == AgentSandbox::Ready::kYes) return {};
  was_starting_ = ready.has_value();
  start_error_ = ready ? Error{Code::kTimeout, 0, "the sandbox is starting"} : ready.error();
  return fail(*start_error_);
}

}  // namespace hutch::service
