// One command from its start to its end.
#include "sandbox/run/supervise.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "backend/last_words.h"
#include "base/limits.h"
#include "base/text.h"
#include "sandbox/io/console.h"
#include "sys/io.h"
#include "sys/net/local_socket.h"
#include "sys/process/signals.h"

namespace hutch::sandbox {

namespace {

using SteadyClock = std::chrono::steady_clock;
using Moment = SteadyClock::time_point;

constexpr std::chrono::milliseconds kForegroundCheck{250};
constexpr std::chrono::milliseconds kSayWait{15'000};  // for a guest that reads

class Supervisor {
 public:
  Supervisor(Supervision supervision, const CommandRequest& request)
      : on_(std::move(supervision)),
        request_(request),
        started_at_(SteadyClock::now()),
        last_output_(started_at_),
        access_({.rules = std::move(on_.access),
                 .judge_socket = on_.judge_socket,
                 .files = on_.files,
                 .tell = [this](const Refusal& refusal) { record_refusal(refusal); },
                 .tell_guest = [this](const wire::ToGuest& message) { return on_.instance.guest.send(message); },
                 .before_change = on_.before_change}) {}

  Result<Outcome> run();
  // The last words of a virtual machine, for an error's message; empty for other backends.
  std::string last_words();

 private:
  Status await_network();
  Status send_command();
  Status turn();
  std::chrono::milliseconds time_left() const;
  Status check_deadlines();
  Status begin_end(EndedBy reason);
  Status kill();
  Status take_signal();
  Status pass_signal(int number);
  Status stop_and_go_on(int number);
  Status serve_network();
  void take_network_refusals();
  Status serve_questions(short ready);
  void leave_screen();
  void close_questions(std::string_view why);
  Status take_messages();
  Status take(const wire::Frame& frame);
  void record_exit(int raw);
  void record_not_executed(const wire::NotExecuted& refused);
  void record_refusal(const Refusal& refusal);
  Status finish();

  Supervision on_;
  const CommandRequest& request_;
  Moment started_at_;
  Moment last_output_;
  std::optional<Moment> kill_at_;  // set once the end has begun
  std::optional<Moment> prompting_since_;  // no time passes for the command meanwhile
  std::chrono::nanoseconds prompted_{0};
  bool attached_ = false;  // the gateway has the network's sockets
  bool killed_ = false;
  bool ended_ = false;
  bool has_status_ = false;
  AccessDesk access_;
  Console console_;
  Outcome outcome_;
};

}  // namespace

Result<UniqueFd> take_signals() {
  TRY(sys::ignore_broken_pipe());
  return sys::signal_descriptor(
      {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2});
}

Result<Outcome> supervise(Supervision supervision, const CommandRequest& request) {
  Supervisor supervisor(std::move(supervision), request);
  auto outcome = supervisor.run();
  if (outcome) return outcome;
  Error error = std::move(outcome).error();
  error.message += supervisor.last_words();
  return fail(std::move(error));
}

namespace {

Result<Outcome> Supervisor::run() {
  TRY(sys::set_send_timeout(on_.instance.guest.fd(), kSayWait));
  if (on_.network != nullptr) on_.network->look_for_processes(on_.instance);
  if (on_.network != nullptr) TRY(await_network());
  TRY(send_command());
  // What came together with an earlier message is not announced by poll(2).
  for (auto frame = TRY(on_.instance.guest.take_buffered()); frame; frame = TRY(on_.instance.guest.take_buffered())) {
    TRY(take(*frame));
  }
  while (!ended_) TRY(turn());
  TRY(finish());
  outcome_.duration = std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - started_at_);
  outcome_.standard_output = on_.streams.standard_output();
  outcome_.standard_error = on_.streams.standard_error();
  if (const auto& lost = on_.streams.lost_output()) outcome_.lost_output = lost->message;
  return std::move(outcome_);
}

std::string Supervisor::last_words() {
  read_console(on_.instance.console, console_);
  return backend::with_last_words(console_.read(0).bytes);
}

// Before the command is sent: nothing runs where its network cannot be served. The guest tells of it first of all and
// goes on with the mounts, so that nobody waits for long.
Status Supervisor::await_network() {
  backend::Instance& instance = on_.instance;
  if (instance.network) {
    attached_ = true;
    return on_.network->attach(*instance.network, std::move(instance.network_sockets));
  }
  while (!attached_) {
    const auto frame = TRY(instance.guest.receive());
    if (!frame) return fail(Error{Code::kSystem, 0, "the guest ended before its network was made"});
    TRY(take(*frame));
  }
  return {};
}

Status Supervisor::send_command() {
  wire::Exec exec;
  exec.arguments = request_.arguments;
  exec.environment = request_.environment;
  exec.cwd = request_.cwd;
  exec.terminal = on_.streams.terminal_use();
  exec.streams = on_.streams.stream_mask();
  TRY(on_.streams.describe_terminal(exec));
  exec.processes_max = request_.processes_max;
  exec.address_space_max = request_.address_space_max;
  exec.creation_mask = request_.creation_mask;
  const auto sent = on_.instance.guest.send(wire::ToGuest(std::move(exec)), on_.streams.child_descriptors());
  on_.streams.sent();
  // A guest that failed before has said why: its message is read in the first turn.
  if (!sent && sent.error().sys_errno != EPIPE && sent.error().sys_errno != ECONNRESET) return sent;
  return {};
}

Status Supervisor::turn() {
  enum { kGuest, kSignals, kControl, kClients, kNetwork, kPrompt, kAccess, kConsole, kFixed };
  std::vector<pollfd> wait(kFixed);
  wait[kGuest] = {on_.instance.guest.fd(), POLLIN, 0};
  wait[kSignals] = {on_.signals, POLLIN, 0};
  wait[kControl] = {on_.control.fd, POLLIN, 0};
  wait[kClients] = {on_.clients.fd, POLLIN, 0};
  wait[kNetwork] = {on_.network != nullptr ? on_.network->fd() : -1, POLLIN, 0};
  wait[kPrompt] = {on_.questions != nullptr ? on_.questions->terminal_fd() : -1, POLLIN, 0};
  wait[kAccess] = {access_.fd(), POLLIN, 0};
  wait[kConsole] = {on_.instance.console ? on_.instance.console.get() : -1, POLLIN, 0};
  // The screen is the prompt's while that is shown, and so are the keys.
  const bool prompting = on_.questions != nullptr && on_.questions->is_prompting();
  if (!prompting) on_.streams.add_to(wait);
  TRY(sys::poll(wait, time_left()));
  if (!prompting && TRY(on_.streams.move(std::span(wait).subspan(kFixed))) == Streams::Progress::kOutput) {
    last_output_ = SteadyClock::now();
  }
  // A machine with a full console stops until somebody reads it.
  if (wait[kConsole].revents != 0) read_console(on_.instance.console, console_);
  if (wait[kSignals].revents != 0) TRY(take_signal());
  if (wait[kControl].revents != 0 && !TRY(on_.control.handle())) on_.control.fd = -1;
  if (wait[kClients].revents != 0 && !TRY(on_.clients.handle())) on_.clients.fd = -1;
  if (on_.network != nullptr) TRY(serve_network());
  if (on_.questions != nullptr) TRY(serve_questions(wait[kPrompt].revents));
  // Of what was answered.
  if (on_.questions != nullptr && on_.network != nullptr) TRY(serve_network());
  if (wait[kAccess].revents != 0) access_.hear();
  access_.step();
  if (wait[kGuest].revents != 0) TRY(take_messages());
  return ended_ ? Status() : check_deadlines();
}

std::chrono::milliseconds Supervisor::time_left() const {
  const Moment now = SteadyClock::now();
  Moment next = now + std::chrono::hours(1);
  if (kill_at_) {
    next = *kill_at_;
  } else if (!prompting_since_) {
    if (request_.timeout.count() > 0) next = std::min(next, started_at_ + prompted_ + request_.timeout);
    if (request_.idle_timeout.count() > 0) next = std::min(next, last_output_ + request_.idle_timeout);
  }
  // Whether this process is in its terminal's foreground is announced by nothing.
  if (const auto left = on_.network != nullptr ? on_.network->time_left() : std::nullopt)
    next = std::min(next, now + *left);
  if (const auto left = on_.questions != nullptr ? on_.questions->time_left() : std::nullopt)
    next = std::min(next, now + *left);
  if (const auto left = access_.time_left()) next = std::min(next, now + *left);
  const bool prompting = on_.questions != nullptr && on_.questions->is_prompting();
  if (on_.streams.has_terminal() || prompting) next = std::min(next, now + kForegroundCheck);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now);
  return std::max(left, std::chrono::milliseconds(0));
}

Status Supervisor::check_deadlines() {
  const Moment now = SteadyClock::now();
  if (kill_at_) return now >= *kill_at_ ? kill() : Status();
  if (prompting_since_) return {};
  if (request_.timeout.count() > 0 && now >= started_at_ + prompted_ + request_.timeout)
    return begin_end(EndedBy::kTimeout);
  if (request_.idle_timeout.count() > 0 && now >= last_output_ + request_.idle_timeout) {
    return begin_end(EndedBy::kIdleTimeout);
  }
  return {};
}

// TERM to everything, then a while to go by itself.
Status Supervisor::begin_end(EndedBy reason) {
  if (kill_at_) return {};
  outcome_.ended_by = reason;
  kill_at_ = SteadyClock::now() + limits::kTermGrace;
  // A stopped process hears nothing but this.
  TRY(pass_signal(SIGTERM));
  return pass_signal(SIGCONT);
}

// Through the guest first, which can then still tell how the command ended. One that does not answer is killed itself:
// that is the end of its pid namespace (pid_namespaces(7)).
Status Supervisor::kill() {
  kill_at_ = SteadyClock::now() + limits::kTermGrace;
  if (killed_) return on_.instance.kill();
  killed_ = true;
  return pass_signal(SIGKILL);
}

Status Supervisor::take_signal() {
  const auto arrived = TRY(sys::next_signal(on_.signals));
  if (!arrived) return {};
  switch (arrived->signal) {
    case SIGWINCH:
      (void)on_.streams.resize_terminal();
      if (on_.questions != nullptr) on_.questions->resized();
      return {};
    case SIGCONT: leave_screen(); return on_.streams.take_caller_terminal();
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU: return stop_and_go_on(SIGSTOP);
    case SIGUSR1:
    case SIGUSR2: return pass_signal(arrived->signal);
    default: break;
  }
  close_questions("hutch was told to end");
  if (!kill_at_) {
    outcome_.ended_by = EndedBy::kSignal;
    outcome_.told_by = arrived->signal;
    kill_at_ = SteadyClock::now() + limits::kTermGrace;
  }
  TRY(pass_signal(arrived->signal));
  return pass_signal(SIGCONT);
}

Status Supervisor::pass_signal(int number) {
  const auto sent = on_.instance.guest.send(wire::ToGuest(wire::Signal{number, wire::SignalTarget::kEverything}));
  if (!sent && (sent.error().sys_errno == EPIPE || sent.error().sys_errno == ECONNRESET)) return {};
  return sent;
}

// The command stops, then this process, as its parent's shell expects of a job; both go on together.
Status Supervisor::stop_and_go_on(int number) {
  if (number != 0) TRY(pass_signal(number));
  leave_screen();
  TRY(on_.streams.release_caller_terminal());
  TRY(sys::stop_self());
  TRY(on_.streams.take_caller_terminal());
  (void)on_.streams.resize_terminal();
  last_output_ = SteadyClock::now();
  return pass_signal(SIGCONT);
}

Status Supervisor::serve_network() {
  TRY(on_.network->step());
  take_network_refusals();
  const unsigned wanted = on_.network->wanted_dial_sockets();
  if (wanted == 0) return {};
  const auto sent = on_.instance.guest.send(wire::ToGuest(wire::MakeSockets{static_cast<std::uint8_t>(wanted)}));
  // One that has ended needs none.
  if (!sent && (sent.error().sys_errno == EPIPE || sent.error().sys_errno == ECONNRESET)) return {};
  return sent;
}

void Supervisor::take_network_refusals() {
  for (Refusal& refusal : on_.network->take_refusals()) {
    if (on_.on_refusal) on_.on_refusal(refusal);
    outcome_.refusals.push_back(std::move(refusal));
  }
}

// While the prompt is there the command's clocks stand still; an alternate screen that it was drawn over is the
// command's to draw again.
Status Supervisor::serve_questions(short ready) {
  TRY(on_.questions->step(ready != 0 ? Questions::Keys::kReady : Questions::Keys::kNone));
  const bool prompting = on_.questions->is_prompting();
  const Moment now = SteadyClock::now();
  if (prompting && !prompting_since_) prompting_since_ = now;
  if (prompting || !prompting_since_) return {};
  prompted_ += now - *prompting_since_;
  last_output_ += now - *prompting_since_;
  prompting_since_.reset();
  // It was left in the modes that the prompt found, which may be those from before the command had its own.
  TRY(on_.streams.take_caller_terminal());
  on_.streams.redraw_terminal();
  return {};
}

// Where the terminal may be found with the prompt's modes, or is given back. What is asked is shown again with the next
// turn.
void Supervisor::leave_screen() {
  if (on_.questions != nullptr) on_.questions->leave_screen();
}

void Supervisor::close_questions(std::string_view why) {
  if (on_.questions != nullptr) on_.questions->close(why);
}

Status Supervisor::take_messages() {
  auto polled = on_.instance.guest.receive_ready();
  if (!polled && polled.error().sys_errno == ECONNRESET) {
    ended_ = true;
    return {};
  }
  if (!polled) return fail(std::move(polled).error());
  for (; polled->frame; polled->frame = TRY(on_.instance.guest.take_buffered())) TRY(take(*polled->frame));
  if (polled->closed) ended_ = true;
  return {};
}

Status Supervisor::take(const wire::Frame& frame) {
  const wire::ToHost message = TRY(wire::decode_to_host(frame.header, frame.body));
  if (const auto* failed = std::get_if<wire::Failed>(&message)) {
    if (!killed_) return fail(failed->error);
    ended_ = true;  // hutch killed it, so this is reported as a kill, not as a failure
  }
  if (std::holds_alternative<wire::Ready>(message)) TRY(on_.instance.end_starter());
  if (const auto* exited = std::get_if<wire::Exited>(&message)) record_exit(exited->status);
  if (const auto* refused = std::get_if<wire::NotExecuted>(&message)) record_not_executed(*refused);
  if (const auto* refused = std::get_if<wire::Refused>(&message)) record_refusal(TRY(refusal_of_guest(*refused)));
  if (std::holds_alternative<wire::Supervise>(message)) {
    TRY(access_.start(on_.instance.guest.take_descriptors()));
  }
  // By a key. Without a terminal nobody would let this process go on, and no time limit is kept while it is stopped.
  const bool terminal = on_.streams.terminal_use() != wire::TerminalUse::kNone;
  if (std::holds_alternative<wire::Stopped>(message)) {
    if (!terminal) return fail(Error::invalid("hutch-guest: a command without a terminal was stopped at one"));
    return stop_and_go_on(0);
  }
  if (const auto* made = std::get_if<wire::Network>(&message)) {
    std::vector<UniqueFd> sockets = on_.instance.guest.take_descriptors();
    if (on_.network == nullptr) return fail(Error::invalid("hutch-guest: a network that nobody asked for"));
    attached_ = true;
    return on_.network->attach(*made, std::move(sockets));
  }
  // Where no terminal was asked for, descriptors that are there already are those of a message behind this one.
  if (terminal && std::holds_alternative<wire::Started>(message)) {
    std::vector<UniqueFd> descriptors = on_.instance.guest.take_descriptors();
    if (!descriptors.empty()) return on_.streams.attach_terminal(std::move(descriptors.front()));
  }
  return {};
}

void Supervisor::record_exit(int raw) {
  const sys::WaitStatus status{raw};
  has_status_ = true;
  ended_ = on_.instance.ending == backend::Instance::Ending::kByKeeper;  // the guest waits for that
  outcome_.signal = status.signal();
  outcome_.exit_code = status.exited() ? status.exit_code() : 128 + status.signal();
  if (is_timeout(outcome_.ended_by)) outcome_.exit_code = 124;
}

void Supervisor::record_not_executed(const wire::NotExecuted& refused) {
  if (std::exchange(has_status_, true)) return;
  ended_ = on_.instance.ending == backend::Instance::Ending::kByKeeper;
  const bool absent = refused.error == ENOENT || refused.error == ENOTDIR;
  outcome_.exit_code = absent ? 127 : 126;
  const std::string name = printable(refused.path);
  Refusal refusal;
  refusal.what = absent ? fmt::format("{}: not found in the sandbox", name)
                        : Error::from_errno(cat({"cannot execute ", name}), refused.error).message;
  if (absent && on_.rule_hiding) refusal.rule = on_.rule_hiding(refused.path);
  outcome_.refusals.push_back(std::move(refusal));
}

void Supervisor::record_refusal(const Refusal& refusal) {
  if (std::ranges::find(outcome_.refusals, refusal) != outcome_.refusals.end()) return;
  outcome_.refusals.push_back(refusal);
  if (on_.on_refusal && refusal.about != Refusal::About::kInstructions) on_.on_refusal(refusal);
}

Status Supervisor::finish() {
  close_questions("the command has ended");
  // Before the wait for orphans, which takes every child of this process for one.
  if (on_.network != nullptr) {
    TRY(on_.network->close());
    take_network_refusals();
  }
  access_.settle();
  access_.stop();
  if (on_.instance.limit_events) {
    const host::CgroupEvents events = on_.instance.limit_events();
    outcome_.killed_for_memory = events.killed_for_memory;
    outcome_.pids_limit_hits = events.pids_refused;
  }
  TRY(on_.instance.stop());
  TRY(on_.streams.finish());
  if (has_status_) return {};
  // Killed before the guest could tell how the command ended.
  outcome_.signal = SIGKILL;
  outcome_.exit_code = is_timeout(outcome_.ended_by) ? 124 : 128 + SIGKILL;
  if (outcome_.ended_by == EndedBy::kItself) outcome_.ended_by = EndedBy::kGuestGone;
  return {};
}

}  // namespace

}  // namespace hutch::sandbox
