// A sandbox that stays.
#include "sandbox/resident/resident.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>

#include "base/limits.h"
#include "base/text.h"
#include "sandbox/resident/ended_processes.h"
#include "sys/io.h"
#include "sys/net/local_socket.h"
#include "sys/process/process.h"
#include "sys/process/signals.h"
#include "sys/process/threads.h"

namespace hutch::sandbox {

namespace {

using Clock = Process::Clock;

constexpr std::chrono::milliseconds kFileServerWait{10'000};
constexpr std::chrono::milliseconds kRootWait{10'000};
// The kernel tells of no event when a peer has read what it was sent.
constexpr std::chrono::milliseconds kHeardSlice{2};
constexpr std::chrono::milliseconds kSupervisorWait{2'000};

}  // namespace

Result<std::unique_ptr<Resident>> Resident::start(Settings settings) {
  auto resident = std::make_unique<Resident>(std::move(settings));
  resident->wake_ = std::make_shared<const sys::Event>(TRY(sys::Event::make()));
  resident->thread_ = TRY(sys::start_thread([&keeper = *resident] { keeper.keep(); }));
  const std::stop_callback stopped(resident->settings_.stop, [&keeper = *resident] { keeper.want_stop(); });
  {
    std::unique_lock lock(resident->mutex_);
    resident->changed_.wait(lock, [&] { return resident->state_ != State::kStarting; });
    if (resident->state_ == State::kReady) return resident;
  }
  resident->stop();
  return fail(over_error(resident->error_));
}

Result<std::shared_ptr<Process>> Resident::spawn(ProcessRequest request, Input input) {
  KeptStreams kept = TRY(open_kept_streams(request, input));
  return launch(std::move(request), std::move(kept));
}

Result<std::shared_ptr<Process>> Resident::spawn(ProcessRequest request, GivenStreams streams) {
  return launch(std::move(request), {std::move(streams), {}, {}});
}

Result<std::shared_ptr<Process>> Resident::launch(ProcessRequest request, KeptStreams kept) {
  begin_change(Changes::kMaybe);
  auto sent = send_exec(std::move(request), std::move(kept));
  if (!sent) {
    end_change();
    return fail(std::move(sent).error());
  }
  const std::shared_ptr<Process>& process = *sent;
  if (!process->wait_for_start(Clock::now() + kStartWait)) {
    const std::scoped_lock lock(mutex_);
    stuck_ = Error{Code::kTimeout, 0, "hutch-guest does not answer"};
    wake();
    return fail(*stuck_);
  }
  if (const auto end = process->end(); end && end->exit_code == 125 && !end->reason.empty()) {
    return fail({end->code, 0, end->reason});
  }
  return process;
}

void Resident::begin_change(Changes changes) {
  ++changing_;
  if (!settings_.before_change) return;
  begin_with_own();
  settings_.before_change(changes, surroundings_);
  if (changes == Changes::kMaybe || !is_parked_) return;
  // Until the file server makes its call the supervisor works again.
  wants_to_go_on_ = true;
  wake();
}

void Resident::end_change() {
  --changing_;
  (void)change_ended();
  if (is_parked_ || will_park_ || wants_to_park_.exchange(true)) return;
  wake();
}

Others Resident::change_ended() {
  const Others left = settings_.after_change ? settings_.after_change(surroundings_) : Others::kNone;
  // The end of what is under way says so again.
  if (left == Others::kRun && nothing_but(0) && !has_others_.exchange(true)) wake();
  return left;
}

bool Resident::nothing_but(std::size_t running) const {
  const std::scoped_lock lock(mutex_);
  return running_.size() <= running && changing_ == 0;
}

// Before the first command starts: its processes are none of the sandbox's own.
void Resident::begin_with_own() {
  {
    const std::scoped_lock lock(send_mutex_);
    if (own_) return;
  }
  (void)others();
}

void Resident::doubt_file_servers() {
  const std::scoped_lock lock(send_mutex_);
  if (own_) own_ = first_;
  as_own_.clear();
}

// A file server does not count as a process that a command left.
void Resident::take_as_own(const FileServer& server) {
  const std::scoped_lock lock(send_mutex_);
  if (!parts_ || !own_) return;
  const auto found = process_numbered(parts_->instance.inside(), server.pid);
  // Checked last: only the server holds the other end, so the number is its own while that is open.
  pollfd closed{server.stream.get(), 0, 0};
  if (!found || sys::poll({&closed, 1}, std::chrono::milliseconds(0)).value_or(1) != 0) return;
  own_->push_back(*found);
  as_own_.clear();
}

Others Resident::others() {
  const std::scoped_lock lock(send_mutex_);
  // The sandbox ends: its processes may still run.
  if (!parts_) return Others::kRun;
  if (!as_own_.empty() && std::ranges::all_of(as_own_, &sys::ChildrenThen::are_the_same)) return Others::kNone;
  // First: what starts later is found by one of the two looks.
  as_own_ = children_of_own();
  const std::vector<ProcessStart> now = processes_below(parts_->instance.process.pid());
  if (!own_) first_ = own_ = now;
  const auto is_own = [&](const ProcessStart& one) { return std::ranges::find(*own_, one) != own_->end(); };
  if (!std::ranges::all_of(now, is_own)) {
    as_own_.clear();
    return Others::kRun;
  }
  own_ = now;  // without those that have ended
  return Others::kNone;
}

// Empty if one of them cannot be seen that way.
std::vector<sys::ChildrenThen> Resident::children_of_own() const {
  std::vector<sys::ChildrenThen> all;
  for (const ProcessStart& own : own_.value_or(std::vector<ProcessStart>())) {
    auto one = sys::ChildrenThen::of(own.process);
    if (!one) return {};
    all.push_back(std::move(*one));
  }
  return all;
}

// Returns an error for a process that is not among the running ones and has no end.
Result<std::shared_ptr<Process>> Resident::send_exec(ProcessRequest request, KeptStreams kept) {
  GivenStreams& streams = kept.childs;
  const bool keeps_terminal = request.terminal.has_value();
  const bool keeps_pipes = !kept.pipes.empty();
  wire::Exec exec;
  exec.arguments = std::move(request.arguments);
  exec.environment = std::move(request.environment);
  exec.cwd = std::move(request.cwd);
  exec.terminal = streams.terminal;
  exec.streams = streams.mask;
  exec.rows = streams.rows;
  exec.columns = streams.columns;
  exec.modes = std::move(streams.modes);
  exec.processes_max = request.processes_max;
  exec.address_space_max = request.address_space_max;
  TRY_CTX(check_sendable(exec), "the command");
  std::shared_ptr<Process> process;
  {
    const std::scoped_lock lock(mutex_);
    if (state_ != State::kReady || stop_wanted_) return fail(over_error(error_));
    if (running_.size() >= kRunningProcessesMax) {
      return fail({Code::kConflict, 0, cat({std::to_string(running_.size()), " commands run in the sandbox already"})});
    }
    exec.command = settings_.next_number ? settings_.next_number() : ++last_number_;
    process = std::make_shared<Process>(exec.command, exec.arguments);
    process->keep_log(std::move(request.log));
    ++launches_;
    running_.emplace(exec.command, Tracked{process, request.timeout, exec.terminal, request.shown, std::nullopt});
    --changing_;
    if (keeps_terminal) {
      process->keeps_terminal();
      process->opened(OutputStream::kOutput);
    }
    for (Pipe& pipe : kept.pipes) {
      pipe.process = process;
      process->opened(pipe.stream);
      new_pipes_.push_back(std::move(pipe));
    }
  }
  if (kept.input) process->keep_input(std::move(kept.input));
  std::vector<int> descriptors;
  for (const UniqueFd& descriptor : streams.descriptors) descriptors.push_back(descriptor.get());
  const auto sent = send(wire::ToGuest(std::move(exec)), descriptors);
  streams.descriptors.clear();
  // The keeping thread polls without these pipes and this deadline until then.
  if (keeps_pipes || request.timeout.count() > 0) wake();
  if (!sent && !is_gone(sent.error())) {
    const std::scoped_lock lock(mutex_);
    running_.erase(process->number());
    ++changing_;
    return fail(sent.error());
  }
  return process;
}

std::shared_ptr<Process> Resident::find(const std::string& id) const {
  const std::scoped_lock lock(mutex_);
  for (const auto& [number, tracked] : running_) {
    if (tracked.process->id() == id) return tracked.process;
  }
  const auto found = std::ranges::find_if(ended_, [&](const auto& process) { return process->id() == id; });
  return found != ended_.end() ? *found : nullptr;
}

std::vector<std::shared_ptr<Process>> Resident::list() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::shared_ptr<Process>> all(ended_.begin(), ended_.end());
  for (const auto& [number, tracked] : running_) {
    if (tracked.shown == ProcessRequest::Shown::kYes) all.push_back(tracked.process);
  }
  std::ranges::sort(all, {}, &Process::number);
  return all;
}

Status Resident::signal(const Process& process, int number, wire::SignalTarget target) {
  const auto sent = send(wire::ToGuest(wire::Signal{number, target, process.number()}));
  return !sent && is_gone(sent.error()) ? Status() : sent;
}

Status Resident::signal_all(int number) {
  const auto sent = send(wire::ToGuest(wire::Signal{number, wire::SignalTarget::kEverything, 0}));
  if (!sent && is_gone(sent.error())) return {};
  TRY(sent);
  return number == SIGSTOP ? await_heard() : Status();
}

// One that joined another sandbox may be stopped by what it has started, which would go on.
Status Resident::await_heard() {
  for (const auto until = Clock::now() + limits::kTermGrace;;) {
    {
      const std::scoped_lock lock(send_mutex_);
      if (!parts_ || !parts_->instance.joined) return {};
      if (TRY(sys::unread_by_peer(parts_->instance.guest.fd())) == 0) return {};
    }
    std::unique_lock lock(mutex_);
    if (state_ == State::kOver) return {};
    if (Clock::now() > until) {
      stuck_ = Error{Code::kTimeout, 0, "hutch-guest does not read what it is sent"};
      wake();
      return fail(*stuck_);
    }
    changed_.wait_for(lock, kHeardSlice);
  }
}

void Resident::end(const std::shared_ptr<Process>& process, EndedBy reason) {
  if (!process->begin_end(reason)) return;
  // A stopped process hears nothing but CONT.
  (void)signal(*process, SIGTERM, wire::SignalTarget::kEnding);
  (void)signal(*process, SIGCONT, wire::SignalTarget::kEnding);
  {
    const std::scoped_lock lock(mutex_);
    const auto tracked = running_.find(process->number());
    if (tracked != running_.end()) tracked->second.kill_at = Clock::now() + limits::kTermGrace;
  }
  wake();
}

Result<UniqueFd> Resident::serve_files() {
  begin_with_own();
  {
    const std::scoped_lock lock(mutex_);
    if (state_ != State::kReady) return fail(over_error(error_));
    ++file_servers_asked_;
  }
  TRY(send(wire::ToGuest(wire::ServeFiles{})));
  FileServer server;
  {
    std::unique_lock lock(mutex_);
    const auto came = [&] { return !file_servers_.empty() || state_ == State::kOver; };
    if (!changed_.wait_for(lock, kFileServerWait, came)) {
      return fail({Code::kTimeout, 0, "the sandbox's file server did not start in time"});
    }
    if (file_servers_.empty()) return fail(over_error(error_));
    server = std::move(file_servers_.back());
    file_servers_.pop_back();
  }
  take_as_own(server);
  return std::move(server.stream);
}

Result<UniqueFd> Resident::hand_root() {
  return have_handed<UniqueFd>([](AccessDesk& desk) { return desk.hand_root(); });
}

Result<JoinedNamespaces> Resident::hand_namespaces() {
  return have_handed<JoinedNamespaces>([this](AccessDesk& desk) -> Result<JoinedNamespaces> {
    JoinedNamespaces handed = TRY(desk.hand_namespaces());
    handed.init = parts_->instance.process.pid();
    handed.pidfd = TRY(sys::duplicate(parts_->instance.process.pidfd()));
    return handed;
  });
}

template <class Handed>
Result<Handed> Resident::have_handed(std::function<Result<Handed>(AccessDesk& desk)> hand) {
  {
    // The guest is ready before it hands its supervisor over.
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kSupervisorWait, [&] { return is_supervised_ || state_ == State::kOver; });
  }
  // Shared, because the thread may come to it after this one has given up.
  const auto handed = std::make_shared<std::optional<Result<Handed>>>();
  on_keeping_thread([this, handed, hand = std::move(hand)] {
    Result<Handed> made =
        access_ ? hand(*access_)
                : Result<Handed>(fail(Error::unsupported("on this kernel a sandbox has no supervisor (Linux 5.14)")));
    const std::scoped_lock lock(mutex_);
    handed->emplace(std::move(made));
    changed_.notify_all();
  });
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, kRootWait, [&] { return handed->has_value() || state_ == State::kOver; })) {
    return fail({Code::kTimeout, 0, "the sandbox does not hand its root over"});
  }
  if (!*handed) return fail(over_error({}));
  return std::move(**handed);
}

void Resident::on_keeping_thread(std::function<void()> work) {
  {
    const std::scoped_lock lock(mutex_);
    if (state_ == State::kOver) return;
    work_.push_back(std::move(work));
  }
  wake();
}

bool Resident::is_alive() const {
  const std::scoped_lock lock(mutex_);
  return state_ == State::kReady;
}

bool Resident::is_busy() const {
  const std::scoped_lock lock(mutex_);
  return !running_.empty();
}

// The number stays the sandbox's own while the lock is held.
bool Resident::has_leftovers() {
  const std::scoped_lock lock(send_mutex_);
  return parts_ && runs_anything(parts_->instance.process.pid(), parts_->instance.inside());
}

Usage Resident::usage() {
  pid_t first = 0;
  host::Cgroup::Use counted;
  {
    const std::scoped_lock lock(send_mutex_);
    if (!parts_) return {};
    first = parts_->instance.process.pid();
    if (parts_->cgroup) counted = parts_->cgroup->use();
  }
  Usage usage;
  if (!counted.memory_bytes || !counted.cpu) usage = usage_below(first);
  return {counted.memory_bytes.value_or(usage.memory_bytes), counted.cpu.value_or(usage.cpu)};
}

void Resident::stop() {
  want_stop();
  const std::scoped_lock lock(join_mutex_);
  if (thread_.joinable()) thread_.join();
}

void Resident::want_stop() {
  {
    const std::scoped_lock lock(mutex_);
    stop_wanted_ = true;
  }
  wake();
}

Status Resident::send(const wire::ToGuest& message, std::span<const int> descriptors) {
  const std::scoped_lock lock(send_mutex_);
  if (!parts_) return fail(Error{Code::kConflict, EPIPE, "the sandbox has ended"});
  Status sent = parts_->instance.guest.send(message, descriptors);
  if (sent || sent.error().sys_errno != EAGAIN) return sent;
  // A part of the message may be on its way, so that no other can follow.
  const std::scoped_lock state_lock(mutex_);
  stuck_ = Error{Code::kTimeout, 0, "hutch-guest does not read what it is sent"};
  wake();
  return fail(*stuck_);
}

void Resident::wake() {
  if (wake_) wake_->signal();
}

}  // namespace hutch::sandbox
