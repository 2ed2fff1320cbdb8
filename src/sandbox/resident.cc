// A sandbox that stays.
#include "sandbox/resident.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <future>

#include "base/limits.h"
#include "base/text.h"
#include "sandbox/ended_processes.h"
#include "sys/local_socket.h"
#include "sys/process.h"
#include "sys/signals.h"
#include "sys/threads.h"

namespace hutch::sandbox {

namespace {

using Clock = Process::Clock;

constexpr std::chrono::milliseconds kFileServerWait{10'000};
constexpr std::chrono::milliseconds kRootWait{10'000};
constexpr std::chrono::milliseconds kRootSlice{50};

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
  begin_change();
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

void Resident::begin_change() {
  if (settings_.before_change) settings_.before_change(others());
}

void Resident::end_change() {
  if (!settings_.after_change) return;
  const Others left = others();
  settings_.after_change(left);
  if (left == Others::kNone || has_others_.exchange(true)) return;
  wake();
}

void Resident::doubt_file_servers() {
  const std::scoped_lock lock(send_mutex_);
  if (own_) own_ = first_;
}

// A file server that started while nothing else ran does not count as left by a command.
void Resident::own_if_quiet(std::uint64_t launches) {
  const std::scoped_lock send_lock(send_mutex_);
  {
    // Everything launched from here on is sent later.
    const std::scoped_lock lock(mutex_);
    if (launches != launches_) return;
  }
  if (parts_) own_ = processes_below(parts_->instance.process.pid());
}

Others Resident::others() {
  const std::scoped_lock lock(send_mutex_);
  if (!parts_) return Others::kNone;
  const std::vector<ProcessStart> now = processes_below(parts_->instance.process.pid());
  if (!own_) first_ = own_ = now;
  const auto is_own = [&](const ProcessStart& one) { return std::ranges::find(*own_, one) != own_->end(); };
  return std::ranges::all_of(now, is_own) ? Others::kNone : Others::kRun;
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
  return !sent && is_gone(sent.error()) ? Status() : sent;
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
  const bool is_quiet = others() == Others::kNone;
  std::optional<std::uint64_t> launches;
  {
    const std::scoped_lock lock(mutex_);
    if (state_ != State::kReady) return fail(over_error(error_));
    if (is_quiet && running_.empty()) launches = launches_;
    ++file_servers_asked_;
  }
  TRY(send(wire::ToGuest(wire::ServeFiles{})));
  UniqueFd stream;
  {
    std::unique_lock lock(mutex_);
    const auto came = [&] { return !file_servers_.empty() || state_ == State::kOver; };
    if (!changed_.wait_for(lock, kFileServerWait, came)) {
      return fail({Code::kTimeout, 0, "the sandbox's file server did not start in time"});
    }
    if (file_servers_.empty()) return fail(over_error(error_));
    stream = std::move(file_servers_.back());
    file_servers_.pop_back();
  }
  if (launches) own_if_quiet(*launches);
  return stream;
}

Result<UniqueFd> Resident::hand_root() {
  const auto handed = std::make_shared<std::promise<Result<UniqueFd>>>();
  auto root = handed->get_future();
  on_keeping_thread([this, handed] {
    handed->set_value(access_ ? access_->hand_root()
                              : fail(Error::unsupported("on this kernel a sandbox has no supervisor (Linux 5.14)")));
  });
  const auto until = Clock::now() + kRootWait;
  // One that has ended never does it.
  while (root.wait_for(kRootSlice) != std::future_status::ready) {
    if (!is_alive()) return fail(over_error({}));
    if (Clock::now() > until) return fail({Code::kTimeout, 0, "the sandbox does not hand its root over"});
  }
  return root.get();
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
