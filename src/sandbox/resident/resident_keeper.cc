// What the thread does that keeps a sandbox.
#include <signal.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "backend/last_words.h"
#include "base/limits.h"
#include "base/text.h"
#include "sandbox/resident/ended_processes.h"
#include "sandbox/resident/resident.h"
#include "sys/io.h"
#include "sys/net/local_socket.h"
#include "sys/process/process.h"
#include "sys/process/signals.h"

namespace hutch::sandbox {

namespace {

using Clock = Process::Clock;

constexpr std::size_t kPipeChunkBytes = 65536;
constexpr std::size_t kPipeBytesPerTurn = 1 << 20;  // so that one that never stops writing holds up no other
constexpr std::chrono::milliseconds kSendWait{15'000};  // for a guest that reads
constexpr std::chrono::milliseconds kParkDelay{1};
constexpr std::chrono::milliseconds kOthersSlice{1000};  // between checks whether all that a command left has ended
constexpr std::string_view kStopped = "the sandbox was stopped";
constexpr std::string_view kMemory = "killed for the sandbox's limit of memory";

// Whether the kernel has killed something in there for its limit since this was asked last.
bool hit_memory_limit(Resident::Parts& parts) {
  host::CgroupEvents events;
  if (parts.cgroup) events = parts.cgroup->events();
  if (parts.instance.limit_events) events = parts.instance.limit_events();
  return std::exchange(parts.killed_for_memory, events.killed_for_memory) < events.killed_for_memory;
}

}  // namespace

void Resident::keep() {
  // The signals of the program that this is part of are not for this thread, and a pipe whose reader has gone is told
  // by the write.
  (void)sys::block_all_signals();
  auto begun = settings_.begin();
  if (!begun) return finish(std::move(begun).error());
  {
    const std::scoped_lock lock(send_mutex_);
    parts_.emplace(std::move(*begun));
  }
  // Whoever answers may outlive this.
  if (parts_->questions) parts_->questions->wake_by([wake = wake_] { wake->signal(); });
  Status kept = sys::set_send_timeout(parts_->instance.guest.fd(), kSendWait);
  if (kept) kept = keep_until_stopped();
  std::optional<Error> reason;
  if (!kept) reason = std::move(kept).error();
  if (parts_->questions) parts_->questions->close("the sandbox has ended");
  if (parts_->network) {
    (void)parts_->network->close();
    (void)serve_network();
  }
  // From here on nobody sends, or looks for what runs below a process whose number may be another's by then.
  std::unique_lock lock(send_mutex_);
  std::optional<Parts> leaving = std::exchange(parts_, std::nullopt);
  lock.unlock();
  const Status stopped = leaving->instance.stop_alone();
  if (leaving->console) {
    read_console(leaving->instance.console, *leaving->console);
    leaving->console->end();
    if (reason) reason->message += backend::with_last_words(leaving->console->read(0).bytes);
  }
  leaving.reset();
  if (!stopped && !reason) reason = stopped.error();
  finish(std::move(reason));
}

Status Resident::keep_until_stopped() {
  Parts& parts = *parts_;
  if (parts.network) {
    parts.network->look_for_processes(parts.instance);
    if (parts.instance.network) {
      TRY(parts.network->attach(*parts.instance.network, std::move(parts.instance.network_sockets)));
    }
  }
  if (parts.instance.plan == backend::Instance::Plan::kApplied) {
    const std::scoped_lock lock(mutex_);
    state_ = State::kReady;
    changed_.notify_all();
  }
  const auto until = Clock::now() + kStartWait;
  // What came together with an earlier message is not announced by poll(2).
  for (auto frame = TRY(parts.instance.guest.take_buffered()); frame;
       frame = TRY(parts.instance.guest.take_buffered())) {
    TRY(take(*frame));
  }
  for (;;) {
    TRY(turn());
    if (is_stopped()) return {};
    // Now, so that the first command need not wait for it.
    if (settings_.before_change && is_alive()) begin_with_own();
    const std::scoped_lock lock(mutex_);
    if (stuck_) return fail(*stuck_);
    if (state_ == State::kStarting && Clock::now() > until) {
      return fail({Code::kTimeout, 0, "the sandbox did not start in time"});
    }
  }
}

// First everything is told, and has a while to go by itself.
bool Resident::is_stopped() {
  std::vector<std::uint32_t> on_terminals;
  {
    const std::scoped_lock lock(mutex_);
    if (!stop_wanted_) return false;
    if (running_.empty() || state_ != State::kReady) return true;
    if (leaving_until_) return Clock::now() >= *leaving_until_;
    leaving_until_ = Clock::now() + limits::kTermGrace;
    for (const auto& [number, tracked] : running_) {
      (void)tracked.process->begin_end(EndedBy::kSignal);
      if (tracked.terminal != wire::TerminalUse::kNone) on_terminals.push_back(number);
    }
  }
  // A shell at a terminal ends by HUP alone, and what is stopped hears nothing but CONT.
  for (const std::uint32_t number : on_terminals) {
    (void)send(wire::ToGuest(wire::Signal{SIGHUP, wire::SignalTarget::kCommand, number}));
  }
  for (const int number : {SIGTERM, SIGCONT}) {
    if (!send(wire::ToGuest(wire::Signal{number, wire::SignalTarget::kEverything, 0}))) return true;
  }
  return false;
}

Status Resident::turn() {
  enum { kGuest, kWake, kNetwork, kAccess, kConsole, kFixed };
  {
    const std::scoped_lock lock(mutex_);
    std::ranges::move(new_pipes_, std::back_inserter(pipes_));
    new_pipes_.clear();
  }
  std::vector<pollfd> wait(kFixed);
  wait[kGuest] = {parts_->instance.guest.fd(), POLLIN, 0};
  wait[kWake] = {wake_->fd(), POLLIN, 0};
  wait[kNetwork] = {parts_->network ? parts_->network->fd() : -1, POLLIN, 0};
  wait[kAccess] = {access_ ? access_->fd() : -1, POLLIN, 0};
  wait[kConsole] = {parts_->console ? parts_->instance.console.get() : -1, POLLIN, 0};
  for (const Pipe& pipe : pipes_) wait.push_back({pipe.from.get(), POLLIN, 0});
  TRY(sys::poll(wait, time_left()));
  if (wait[kWake].revents != 0) wake_->clear();
  if (wait[kConsole].revents != 0) read_console(parts_->instance.console, *parts_->console);
  // Before the messages: what was written before an end is there when the end is told.
  read_pipes(wait, kFixed);
  if (parts_->network) TRY(serve_network());
  if (parts_->questions) TRY(serve_questions());
  // Of what was answered.
  if (parts_->questions && parts_->network) TRY(serve_network());
  tell_of_launches();
  if (wait[kAccess].revents != 0) access_->hear();
  if (access_) access_->step();
  if (wait[kGuest].revents != 0) TRY(take_messages());
  check_deadlines();
  look_for_others();
  // Once the change is over, what is there is not the sandbox's.
  if (wants_to_go_on_.exchange(false) && access_ && changing_ > 0) go_on_for_change();
  if (wants_to_park_.exchange(false) && !has_others_) park(0);
  if (will_park_ && Clock::now() >= next_park_) park_after_change();
  return {};
}

// The last command that runs has ended: what changes files from here on is one that begins, or what this one left.
void Resident::settle_changes() {
  if (!access_) return;
  nothing_but(1) ? park(1) : access_->settle();
}

// A file server answers sooner than the supervisor could be made to wait again, which nobody needs at once.
void Resident::go_on_for_change() {
  access_->go_on();
  next_park_ = Clock::now() + kParkDelay;
  will_park_ = true;
}

// What still runs parks at its end: from here on it wakes this thread.
void Resident::park_after_change() {
  will_park_ = false;
  if (!has_others_) park(0);
}

void Resident::before_first_change() {
  is_parked_ = false;
  if (settings_.before_first_change) settings_.before_first_change();
  // By what an earlier command left, whose end nobody hears of.
  if (nothing_but(0)) has_others_ = true;
}

// But for so many commands that end.
void Resident::park(std::size_t running) {
  if (!access_ || !nothing_but(running)) return;
  access_->park();
  is_parked_ = access_->is_parked();
  // What began before it waited may have been given a file, or wait for an answer, already.
  if (!nothing_but(running)) access_->go_on();
}

// Before anything is heard of what they want: they were counted before the guest knew of them.
void Resident::tell_of_launches() {
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(launches_told_, launches_) == launches_) return;
  }
  if (access_) access_->command_begins();
}

void Resident::look_for_others() {
  if (!has_others_ || Clock::now() < next_look_) return;
  next_look_ = Clock::now() + kOthersSlice;
  {
    const std::scoped_lock lock(mutex_);
    if (!running_.empty()) return;
  }
  if (others() == Others::kRun) return;
  has_others_ = false;
  park(0);
  if (settings_.on_quiet) settings_.on_quiet();
}

std::optional<std::chrono::milliseconds> Resident::time_left() {
  std::optional<Clock::time_point> next;
  const auto sooner = [&](Clock::time_point moment) { next = next ? std::min(*next, moment) : moment; };
  {
    const std::scoped_lock lock(mutex_);
    if (state_ == State::kStarting) sooner(Clock::now() + std::chrono::seconds(1));
    if (leaving_until_) sooner(*leaving_until_);
    for (const auto& [number, tracked] : running_) {
      if (tracked.kill_at)
        sooner(*tracked.kill_at);
      else if (tracked.timeout.count() > 0)
        sooner(tracked.process->started_at() + tracked.timeout);
    }
  }
  if (has_others_) sooner(next_look_);
  if (will_park_) sooner(next_park_);
  if (const auto left = access_ ? access_->time_left() : std::nullopt) sooner(Clock::now() + *left);
  if (parts_->network) {
    if (const auto left = parts_->network->time_left()) sooner(Clock::now() + *left);
  }
  if (parts_->questions) {
    if (const auto left = parts_->questions->time_left()) sooner(Clock::now() + *left);
  }
  if (!next) return std::nullopt;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now());
  return std::max(left, std::chrono::milliseconds(0));
}

void Resident::read_pipes(const std::vector<pollfd>& wait, std::size_t first) {
  std::size_t at = first;
  std::erase_if(pipes_, [&](Pipe& pipe) { return wait[at++].revents != 0 && !drain(pipe); });
}

bool Resident::drain(Pipe& pipe) {
  static thread_local std::array<char, kPipeChunkBytes> bytes;
  for (std::size_t total = 0; total < kPipeBytesPerTurn;) {
    const auto count = sys::read_some(pipe.from.get(), bytes);
    if (!count && count.error().sys_errno == EAGAIN) return true;
    if (!count || *count == 0) {
      pipe.process->closed(pipe.stream);
      return false;
    }
    pipe.process->wrote(pipe.stream, {bytes.data(), *count});
    total += *count;
  }
  return true;
}

Status Resident::serve_network() {
  TRY(parts_->network->step());
  for (const Refusal& refusal : parts_->network->take_refusals()) tell_refusal(refusal);
  const unsigned wanted = parts_->network->wanted_dial_sockets();
  if (wanted == 0) return {};
  const auto sent = send(wire::ToGuest(wire::MakeSockets{static_cast<std::uint8_t>(wanted)}));
  return !sent && is_gone(sent.error()) ? Status() : sent;
}

Status Resident::serve_questions() {
  std::vector<std::function<void()>> work;
  {
    const std::scoped_lock lock(mutex_);
    work.swap(work_);
  }
  for (const auto& one : work) one();
  return parts_->questions->step(Questions::Keys::kNone);
}

Status Resident::take_messages() {
  wire::Connection& guest = parts_->instance.guest;
  auto polled = guest.receive_ready();
  if (!polled && polled.error().sys_errno == ECONNRESET) polled = wire::Connection::Polled{true, std::nullopt};
  if (!polled) return fail(std::move(polled).error());
  for (; polled->frame; polled->frame = TRY(guest.take_buffered())) TRY(take(*polled->frame));
  if (!polled->closed) return {};
  const bool by_limit = hit_memory_limit(*parts_);
  return fail({Code::kSystem, 0,
               cat({"the sandbox ended by itself: its init was killed", by_limit ? " for the limit of memory" : ""})});
}

Status Resident::take(const wire::Frame& frame) {
  const wire::ToHost message = TRY(wire::decode_to_host(frame.header, frame.body));
  if (const auto* failed = std::get_if<wire::Failed>(&message)) return fail(failed->error);
  if (const auto* started = std::get_if<wire::Started>(&message)) take_started(*started);
  if (const auto* refused = std::get_if<wire::NotExecuted>(&message))
    take_end(refused->command, end_of_refusal(*refused));
  if (const auto* not_started = std::get_if<wire::NotStarted>(&message)) {
    ProcessEnd end;
    end.reason = not_started->error.message;
    end.code = not_started->error.code;
    take_end(not_started->command, std::move(end));
  }
  if (const auto* exited = std::get_if<wire::Exited>(&message)) {
    // What was refused to it is told before its end.
    if (parts_->network) TRY(serve_network());
    settle_changes();
    std::shared_ptr<Process> process;
    {
      const std::scoped_lock lock(mutex_);
      const auto tracked = running_.find(exited->command);
      if (tracked == running_.end()) return fail(Error::invalid("hutch-guest: the end of a command that does not run"));
      process = tracked->second.process;
    }
    ProcessEnd end = end_of_status(exited->status, *process);
    if (leaving_until_) end.reason = kStopped;
    const bool died = end.exit_code == 128 + SIGKILL && end.ended_by == EndedBy::kItself;
    if (died && hit_memory_limit(*parts_)) {
      end.ended_by = EndedBy::kMemoryLimit;
      end.reason = kMemory;
    }
    take_end(exited->command, std::move(end));
  }
  if (const auto* refused = std::get_if<wire::Refused>(&message)) tell_refusal(TRY(refusal_of_guest(*refused)));
  if (std::holds_alternative<wire::Supervise>(message)) {
    access_.emplace(AccessDesk::Settings{.rules = std::move(parts_->access_rules),
                                         .judge_socket = parts_->judge_socket,
                                         .files = parts_->files,
                                         .tell = [this](const Refusal& refusal) { tell_refusal(refusal); },
                                         .tell_guest = [this](const wire::ToGuest& said) { return send(said); },
                                         .before_change = [this] { before_first_change(); }});
    TRY(access_->start(parts_->instance.guest.take_descriptors()));
    is_parked_ = access_->is_parked();
  }
  if (const auto* made = std::get_if<wire::Network>(&message)) {
    if (!parts_->network) return fail(Error::invalid("hutch-guest: a network that nobody asked for"));
    TRY(parts_->network->attach(*made, parts_->instance.guest.take_descriptors()));
  }
  if (std::holds_alternative<wire::Ready>(message)) TRY(parts_->instance.end_starter());
  const std::scoped_lock lock(mutex_);
  is_supervised_ = access_.has_value();
  if (std::holds_alternative<wire::Ready>(message) && state_ == State::kStarting) state_ = State::kReady;
  if (const auto* server = std::get_if<wire::FileServer>(&message)) {
    std::vector<UniqueFd> streams = parts_->instance.guest.take_descriptors();
    if (file_servers_asked_ == 0 || streams.size() != 1)
      return fail(Error::invalid("hutch-guest: a file server too many"));
    --file_servers_asked_;
    file_servers_.push_back({std::move(streams.front()), server->pid});
  }
  changed_.notify_all();
  return {};
}

void Resident::take_started(const wire::Started& started) {
  const std::scoped_lock lock(mutex_);
  const auto tracked = running_.find(started.command);
  if (tracked == running_.end()) return;
  Tracked& found = tracked->second;
  if (found.process->state() != Process::State::kStarting) return;  // it was told before
  // Descriptors that are there already may be those of a message behind this one.
  if (found.terminal != wire::TerminalUse::kNone) {
    std::vector<UniqueFd> descriptors = parts_->instance.guest.take_descriptors();
    if (!descriptors.empty()) take_terminal(found, std::move(descriptors.front()));
  }
  if (settings_.on_process_start && found.shown == ProcessRequest::Shown::kYes)
    settings_.on_process_start(*found.process);
  found.process->started_as(started.pid);
}

// One that nobody could read would stop once its terminal is full.
void Resident::take_terminal(Tracked& of, UniqueFd master) {
  if (!of.process->has_terminal()) return of.process->keep_terminal(std::move(master));
  auto pipe = keep_terminal(of.process, std::move(master));
  if (pipe) return pipes_.push_back(std::move(*pipe));
  if (of.process->begin_end(EndedBy::kGuestGone)) of.kill_at = Clock::now();
}

void Resident::take_end(std::uint32_t number, ProcessEnd end) {
  std::shared_ptr<Process> process;
  auto shown = ProcessRequest::Shown::kYes;
  {
    const std::scoped_lock lock(mutex_);
    const auto tracked = running_.find(number);
    if (tracked == running_.end()) return;
    process = tracked->second.process;
    shown = tracked->second.shown;
    end.refusals = std::move(tracked->second.refusals);
    if (end.exit_code != 0) std::ranges::move(tracked->second.refused_changes, std::back_inserter(end.refusals));
    end.refused_hosts = std::move(tracked->second.refused_hosts);
    // Of a command that began and ended within one turn: they came after that turn's beginning.
    std::ranges::move(new_pipes_, std::back_inserter(pipes_));
    new_pipes_.clear();
  }
  std::erase_if(pipes_, [&](Pipe& pipe) { return pipe.process == process && !drain(pipe); });
  remember(number, shown);
  end.duration = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - process->started_at());
  process->close_input();
  // The supervisor sees what they write.
  if (change_ended() == Others::kRun && access_) access_->go_on();
  if (settings_.on_process_end && shown == ProcessRequest::Shown::kYes) settings_.on_process_end(*process, end);
  process->ended(std::move(end));
}

// A server whose clients run commands all the time would otherwise be forgotten for them as soon as it ends.
void Resident::remember(std::uint32_t number, ProcessRequest::Shown shown) {
  std::vector<std::shared_ptr<Process>> forgotten;
  {
    const std::scoped_lock lock(mutex_);
    const auto tracked = running_.find(number);
    const std::shared_ptr<Process> process = std::move(tracked->second.process);
    running_.erase(tracked);
    if (shown == ProcessRequest::Shown::kNo) return;
    ended_.push_back(process);
    forgotten = take_forgotten(ended_);
  }
  // What they left running may hold them for ever, and nobody can ask for them any more.
  const auto is_forgotten = [&](const Pipe& pipe) {
    return std::ranges::find(forgotten, pipe.process) != forgotten.end();
  };
  std::erase_if(pipes_, is_forgotten);
}

void Resident::tell_refusal(const Refusal& refusal) {
  if (settings_.on_refusal) settings_.on_refusal(refusal);
  const bool is_host = !refusal.host.empty();
  if (!is_host && refusal.about != Refusal::About::kRefusal) return;
  const bool waits = !is_host && refusal.weight == Refusal::Weight::kOfFailure;
  // Which of several processes wanted it is not always known: each that runs is told of it.
  const std::scoped_lock lock(mutex_);
  for (auto& [number, tracked] : running_) {
    std::vector<std::string>& told = waits ? tracked.refused_changes : tracked.refusals;
    if (told.size() < kToldRefusalsMax && std::ranges::find(told, refusal.what) == told.end()) {
      told.push_back(refusal.what);
      if (is_host) tracked.refused_hosts.emplace_back(refusal.host, refusal.port);
    }
  }
}

void Resident::check_deadlines() {
  const Clock::time_point now = Clock::now();
  std::vector<std::shared_ptr<Process>> late;
  std::vector<std::shared_ptr<Process>> deaf;
  {
    const std::scoped_lock lock(mutex_);
    for (auto& [number, tracked] : running_) {
      if (tracked.kill_at && now >= *tracked.kill_at) {
        tracked.kill_at = now + limits::kTermGrace;
        deaf.push_back(tracked.process);
      } else if (!tracked.kill_at && tracked.timeout.count() > 0 &&
                 now >= tracked.process->started_at() + tracked.timeout) {
        late.push_back(tracked.process);
      }
    }
  }
  for (const auto& process : late) end(process, EndedBy::kTimeout);
  for (const auto& process : deaf) (void)signal(*process, SIGKILL, wire::SignalTarget::kTree);
}

void Resident::finish(std::optional<Error> reason) {
  std::vector<std::uint32_t> left;
  {
    const std::scoped_lock send_lock(send_mutex_);
    const std::scoped_lock lock(mutex_);
    state_ = State::kOver;
    error_ = reason;
    for (const auto& [number, tracked] : running_) left.push_back(number);
    std::ranges::move(new_pipes_, std::back_inserter(pipes_));
    new_pipes_.clear();
  }
  for (const std::uint32_t number : left) {
    ProcessEnd end;
    end.exit_code = 128 + SIGKILL;
    end.signal = SIGKILL;
    end.ended_by = EndedBy::kGuestGone;
    end.reason = reason ? reason->message : std::string(kStopped);
    take_end(number, std::move(end));
  }
  pipes_.clear();
  {
    const std::scoped_lock send_lock(send_mutex_);
    parts_.reset();
    access_.reset();
  }
  changed_.notify_all();
  if (settings_.on_end) settings_.on_end(reason);
}

}  // namespace hutch::sandbox
