// One command of a sandbox that stays.
#include "sandbox/resident/process.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "sys/io.h"

namespace hutch::sandbox {

namespace {

constexpr std::size_t kReadBytesMax = 1 << 20;

std::chrono::milliseconds left_until(Process::Clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Process::Clock::now());
  return std::max(left, std::chrono::milliseconds(0));
}

}  // namespace

Process::State Process::state() const {
  const std::scoped_lock lock(mutex_);
  return state_;
}

std::uint32_t Process::pid_inside() const {
  const std::scoped_lock lock(mutex_);
  return pid_;
}

std::optional<ProcessEnd> Process::end() const {
  const std::scoped_lock lock(mutex_);
  return end_;
}

std::optional<ProcessEnd> Process::wait(Clock::time_point until) const {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, until, [&] { return end_.has_value(); });
  return end_;
}

bool Process::wait_for_start(Clock::time_point until) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, until, [&] { return state_ != State::kStarting; });
}

Capture Process::captured(OutputStream stream) const {
  const std::scoped_lock lock(mutex_);
  return captures_[static_cast<std::size_t>(stream)];
}

// What a process leaves running may hold its streams open for long: the process's own end is the end of the reading.
Process::Read Process::read(OutputStream stream, std::uint64_t offset, Clock::time_point until) const {
  const auto index = static_cast<std::size_t>(stream);
  std::unique_lock lock(mutex_);
  const auto over = [&] { return end_.has_value() || (state_ == State::kRunning && !open_[index]); };
  changed_.wait_until(lock, until, [&] { return captures_[index].bytes_total() > offset || over(); });
  Read read{captures_[index].read(offset, kReadBytesMax), false};
  read.ended = over() && read.piece.next >= captures_[index].bytes_total();
  return read;
}

Result<UniqueFd> Process::notice(Notice notice) const {
  auto [read, write] = TRY(sys::pipe());
  TRY(sys::set_nonblocking(read.get()));
  TRY(sys::set_nonblocking(write.get()));
  const std::scoped_lock lock(mutex_);
  // The end of the pipe is readable too.
  if (!end_) (notice == Notice::kEnd ? on_end_ : on_change_).push_back(std::move(write));
  return std::move(read);
}

void Process::clear(int notice) {
  std::array<char, 256> bytes;
  (void)sys::read_some(notice, bytes);
}

void Process::await(int notice, std::chrono::milliseconds at_most) {
  pollfd wait{notice, POLLIN, 0};
  (void)sys::poll({&wait, 1}, at_most);
  clear(notice);
}

// A pipe that is full has told it already; one whose reader has gone is of no more use.
void Process::tell_change() {
  changed_.notify_all();
  std::erase_if(on_change_, [](const UniqueFd& pipe) {
    const auto told = sys::write_some(pipe.get(), "c");
    return !told && told.error().sys_errno == EPIPE;
  });
}

Status Process::write_input(std::string_view bytes, Clock::time_point until) {
  const std::scoped_lock lock(input_mutex_);
  while (!bytes.empty()) {
    if (!input_) return fail({Code::kConflict, EPIPE, "its input is closed"});
    const auto written = sys::write_some(input_.get(), bytes);
    if (written) {
      bytes.remove_prefix(*written);
      continue;
    }
    if (written.error().sys_errno == EPIPE) {
      input_.reset();
      continue;
    }
    if (written.error().sys_errno != EAGAIN) return fail(written.error());
    const auto left = left_until(until);
    if (left.count() == 0) return fail({Code::kTimeout, 0, "it does not read its input"});
    pollfd wait{input_.get(), POLLOUT, 0};
    TRY(sys::poll({&wait, 1}, left));
  }
  return {};
}

void Process::close_input() {
  const std::scoped_lock lock(input_mutex_);
  input_.reset();
}

void Process::keep_input(UniqueFd pipe) {
  const std::scoped_lock lock(input_mutex_);
  input_ = std::move(pipe);
}

void Process::keep_terminal(UniqueFd master) {
  const std::scoped_lock lock(mutex_);
  terminal_ = std::move(master);
}

UniqueFd Process::take_terminal() {
  const std::scoped_lock lock(mutex_);
  return std::move(terminal_);
}

void Process::keeps_terminal() {
  const std::scoped_lock lock(mutex_);
  keeps_terminal_ = true;
}

bool Process::has_terminal() const {
  const std::scoped_lock lock(mutex_);
  return keeps_terminal_;
}

Status Process::resize_terminal(sys::TerminalSize size, Redraw redraw) {
  const std::scoped_lock lock(mutex_);
  if (!keeps_terminal_ || !terminal_) return fail({Code::kConflict, 0, "it has no terminal"});
  TRY(sys::set_terminal_size(terminal_.get(), size));
  return redraw == Redraw::kAlways ? sys::signal_resize(terminal_.get()) : Status();
}

void Process::started_as(std::uint32_t pid) {
  const std::scoped_lock lock(mutex_);
  if (state_ == State::kStarting) state_ = State::kRunning;
  pid_ = pid;
  tell_change();
}

void Process::keep_log(LogFile log) {
  log_ = std::move(log.file);
  const std::scoped_lock lock(mutex_);
  log_name_ = std::move(log.name);
}

std::string Process::log_name() const {
  const std::scoped_lock lock(mutex_);
  return log_name_;
}

// A full disk ends the log, and nothing else.
void Process::append_log(std::string_view bytes) {
  if (!log_) return;
  const std::string_view piece = bytes.substr(0, kLogBytesMax - logged_);
  logged_ += piece.size();
  if (!sys::write_all(log_.get(), piece) || logged_ == kLogBytesMax) log_.reset();
}

void Process::wrote(OutputStream stream, std::string_view bytes) {
  append_log(bytes);
  const std::scoped_lock lock(mutex_);
  captures_[static_cast<std::size_t>(stream)].add(bytes);
  tell_change();
}

void Process::opened(OutputStream stream) {
  const std::scoped_lock lock(mutex_);
  open_[static_cast<std::size_t>(stream)] = true;
  kept_ = true;
}

std::size_t Process::bytes_kept() const {
  const std::scoped_lock lock(mutex_);
  std::size_t bytes = 0;
  for (const Capture& capture : captures_) bytes += capture.head().size() + capture.tail().size();
  return bytes;
}

bool Process::keeps_output() const {
  const std::scoped_lock lock(mutex_);
  return kept_;
}

void Process::closed(OutputStream stream) {
  const std::scoped_lock lock(mutex_);
  open_[static_cast<std::size_t>(stream)] = false;
  if (!open_[0] && !open_[1]) log_.reset();
  tell_change();
}

void Process::ended(ProcessEnd end) {
  const std::scoped_lock lock(mutex_);
  if (end_) return;
  end_ = std::move(end);
  state_ = State::kEnded;
  if (keeps_terminal_) terminal_.reset();
  tell_change();
  on_change_.clear();
  on_end_.clear();
}

bool Process::begin_end(EndedBy reason) {
  const std::scoped_lock lock(mutex_);
  if (end_ || ending_ != EndedBy::kItself) return false;
  ending_ = reason;
  return true;
}

EndedBy Process::ending() const {
  const std::scoped_lock lock(mutex_);
  return ending_;
}

}  // namespace hutch::sandbox
