// Starting one command in the sandbox.
#include "guest/command.h"

#include <signal.h>

#include <array>
#include <bit>
#include <cerrno>

#include "base/check.h"
#include "base/own_umask.h"
#include "base/text.h"
#include "sys/channel.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/io.h"
#include "sys/process/lockdown.h"
#include "sys/process/process.h"
#include "sys/process/rlimits.h"
#include "sys/process/signals.h"
#include "sys/terminal.h"
#include "wire/codec.h"

namespace hutch::guest {

namespace {

// What the child tells its parent before the program runs; it says nothing once execve(2) has succeeded, and the
// close-on-exec end of the channel then closes by itself.
enum class Report : std::uint8_t { kNotExecuted, kFailed };

struct Preparation {
  const wire::Exec& exec;
  int report;    // the child's end of the channel to the parent
  int terminal;  // -1: none
  std::array<int, 3> streams;
  Orphans orphans;
  std::span<const plan::ProcessLimit> limits;
};

[[noreturn]] void child(const Preparation& preparation);
[[noreturn]] void terminal_leader(const Preparation& preparation, int stops);
Status prepare_program(const Preparation& preparation);
Status enter_directory(const std::string& directory);
wire::NotExecuted execute_command(const wire::Exec& exec);
int execute_or_interpret(const std::string& path, const wire::Exec& exec);
std::optional<std::string> environment_value(const std::vector<std::string>& environment, std::string_view name);
void send_report(int channel, Report report, const Error& error);
Result<std::variant<Command, wire::NotExecuted>> await_program(int channel, pid_t pid, pid_t group);

}  // namespace

Result<std::variant<StartedCommand, wire::NotExecuted>> start_command(const wire::Exec& exec,
                                                                      std::vector<UniqueFd> streams, Orphans orphans,
                                                                      std::span<const plan::ProcessLimit> limits) {
  const bool terminal = exec.terminal == wire::TerminalUse::kOwn;
  if (static_cast<int>(streams.size()) != std::popcount(exec.streams) || (!terminal && exec.streams != 7)) {
    return fail(Error::invalid("a command without its streams"));
  }
  if (exec.arguments.empty()) return fail(Error::invalid("a command without a name"));
  auto [mine, childs] = TRY(sys::socket_pair());
  std::optional<sys::TerminalPair> pair;
  std::optional<sys::Pipe> stops;
  if (terminal) {
    pair = TRY(sys::open_terminal("/dev/ptmx"));
    if (exec.rows != 0) TRY(sys::set_terminal_size(pair->master.get(), {exec.rows, exec.columns}));
    if (!exec.modes.empty()) TRY(sys::set_terminal_modes(pair->terminal.get(), exec.modes));
    stops = TRY(sys::pipe());
  }
  Preparation preparation{exec, childs.get(), terminal ? pair->terminal.get() : -1, {}, orphans, limits};
  for (unsigned i = 0, taken = 0; i < 3; ++i) {
    const bool came = (exec.streams & 1U << i) != 0;
    preparation.streams[i] = came ? streams[taken++].get() : preparation.terminal;
  }
  const pid_t pid = TRY(terminal ? sys::fork_process(sys::Parentage::kOwn)
                                 : sys::fork_for_program([&preparation] { child(preparation); }));
  if (pid == 0) terminal_leader(preparation, stops->write.get());
  childs.reset();
  auto outcome = TRY(await_program(mine.get(), pid, pid));
  if (auto* refused = std::get_if<wire::NotExecuted>(&outcome)) return *refused;
  StartedCommand started{std::move(std::get<Command>(outcome)), std::nullopt};
  if (terminal) {
    started.command.stops = std::move(stops->read);
    started.terminal_master = std::move(pair->master);
  }
  return started;
}

namespace {

void child(const Preparation& preparation) {
  Status prepared = sys::new_session();
  if (prepared) prepared = prepare_program(preparation);
  if (!prepared) {
    send_report(preparation.report, Report::kFailed, prepared.error());
    sys::exit_now(125);
  }
  const wire::NotExecuted refused = execute_command(preparation.exec);
  send_report(preparation.report, Report::kNotExecuted, {Code::kSystem, refused.error, refused.path});
  sys::exit_now(127);
}

// The command of a terminal cannot lead its session: a leader's group is orphaned, and the kernel does not stop an
// orphaned group for ^Z (setpgid(2), tty_ioctl of SIGTSTP). So a leader stays between: it has the command as a job in
// the foreground, says when it was stopped, and ends as the command does.
void terminal_leader(const Preparation& preparation, int stops) {
  const int terminal = preparation.terminal;
  const auto lead = [&]() -> Result<pid_t> {
    TRY(sys::new_session());
    TRY(sys::take_terminal(terminal));
    const pid_t pid = TRY(sys::fork_process(sys::Parentage::kOwn));
    if (pid != 0) return pid;
    Status prepared = sys::new_process_group(0);
    if (prepared) prepared = sys::set_foreground(terminal, sys::own_pid());
    if (prepared) prepared = prepare_program(preparation);
    if (!prepared) return fail(std::move(prepared).error());
    const wire::NotExecuted refused = execute_command(preparation.exec);
    send_report(preparation.report, Report::kNotExecuted, {Code::kSystem, refused.error, refused.path});
    sys::exit_now(127);
  };
  const Result<pid_t> job = lead();
  if (!job) {
    send_report(preparation.report, Report::kFailed, job.error());
    sys::exit_now(125);
  }
  sys::become_job_waiter(*job, stops);
}

Status prepare_program(const Preparation& preparation) {
  const wire::Exec& exec = preparation.exec;
  // Away from 0, 1 and 2 first: a stream may have come in at one of these numbers.
  std::array<UniqueFd, 3> copies;
  for (std::size_t i = 0; i < copies.size(); ++i) copies[i] = TRY(sys::duplicate(preparation.streams[i], 10));
  for (int i = 0; i < 3; ++i) TRY(sys::install_fd(copies[static_cast<std::size_t>(i)].get(), i));
  TRY(sys::cloexec_from(3));
  TRY(enter_directory(exec.cwd));
  // This process's parent keeps its own limits: it passes descriptors, and the kernel compares those in flight with the
  // sender's limit (plan/quotas.h).
  for (const plan::ProcessLimit& limit : preparation.limits) {
    TRY(sys::lower_limit(limit.resource, {limit.soft, limit.hard}));
  }
  if (exec.processes_max != 0) TRY(sys::limit_resource(sys::Resource::kProcesses, exec.processes_max));
  if (exec.address_space_max != 0) TRY(sys::limit_resource(sys::Resource::kAddressSpace, exec.address_space_max));
  if (preparation.orphans == Orphans::kOfCommand) TRY(sys::become_subreaper());
  if (exec.creation_mask != wire::Exec::kGuestsMask) sys::set_umask(kOwnUmask | (exec.creation_mask & kUmaskBits));
  return sys::reset_signals();
}

// Whoever asked named it: that it cannot be entered is no failure of hutch's.
Status enter_directory(const std::string& directory) {
  Status entered = sys::change_directory(directory);
  if (entered) return entered;
  Error error = std::move(entered).error();
  error.code = Code::kInvalidArgument;
  return fail(std::move(error).with_context("working directory"));
}

wire::NotExecuted execute_command(const wire::Exec& exec) {
  const std::string& name = exec.arguments.front();
  if (name.find('/') != std::string::npos) return {0, execute_or_interpret(name, exec), name};
  // As execvp(3): a name that may not be executed is remembered while the search goes on.
  wire::NotExecuted refused{0, ENOENT, name};
  const std::string path = environment_value(exec.environment, "PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  for (const std::string_view directory : split(path, ':')) {
    const std::string candidate = directory.empty() ? cat({"./", name}) : cat({directory, "/", name});
    const int error = execute_or_interpret(candidate, exec);
    if (error != ENOENT && error != ENOTDIR && refused.error == ENOENT) refused = {0, error, candidate};
  }
  return refused;
}

int execute_or_interpret(const std::string& path, const wire::Exec& exec) {
  const int error = sys::execute(path, exec.arguments, exec.environment);
  if (error != ENOEXEC) return error;
  std::vector<std::string> arguments = {"sh", path};
  arguments.insert(arguments.end(), exec.arguments.begin() + 1, exec.arguments.end());
  return sys::execute("/bin/sh", arguments, exec.environment);
}

std::optional<std::string> environment_value(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

void send_report(int channel, Report report, const Error& error) {
  wire::Writer out;
  out.u8(static_cast<std::uint8_t>(report));
  out.u8(static_cast<std::uint8_t>(error.code));
  out.u32(static_cast<std::uint32_t>(error.sys_errno));
  out.text(error.message);
  // Nobody is left to tell when this fails: the parent then sees the channel close without a word, and says so.
  (void)sys::send_all(channel, out.bytes(), {});
}

Result<std::variant<Command, wire::NotExecuted>> await_program(int channel, pid_t pid, pid_t group) {
  std::string bytes;
  std::array<char, 4096> chunk;
  for (;;) {
    sys::Received received = TRY(sys::receive_some(channel, chunk));
    if (received.size == 0) break;
    bytes.append(chunk.data(), received.size);
  }
  if (bytes.empty()) return Command{0, pid, group, std::nullopt};
  wire::Reader head(bytes);
  const auto report = head.choice(Report::kFailed);
  Error error{head.choice(Code::kSystem), static_cast<int>(head.u32()), head.text()};
  TRY(head.finish("a report"));
  if (report == Report::kNotExecuted) return wire::NotExecuted{0, error.sys_errno, error.message};
  return fail(std::move(error).with_context("start the command"));
}

}  // namespace

}  // namespace hutch::guest
