// The standard streams of a command.
#include "sandbox/io/streams.h"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <tuple>
#include <utility>

#include "sys/io.h"
#include "sys/process/unwaiting.h"

namespace hutch::sandbox {

namespace {

constexpr std::size_t kChunkBytes = 65536;
// What a pipe that poll(2) calls writable takes without blocking: PIPE_BUF, pipe(7).
constexpr std::size_t kWriteBytesMax = 4096;
// Of a terminal that is wanted where there is none.
constexpr std::uint16_t kRows = 24;
constexpr std::uint16_t kColumns = 80;
constexpr char kEndOfInput = 'D' & 0x1f;  // VEOF of a new terminal, termios(3)
constexpr std::chrono::milliseconds kDrainWait{2000};

bool is_straight(sys::StreamKind kind) { return kind == sys::StreamKind::kPipe; }
bool has_no_reader(int fd, int number);
Result<std::size_t> read_into(Pump& pump);
void end(Pump& pump);
void give_back_unread(const Pump& pump);

}  // namespace

Result<Streams> Streams::open(StreamOptions options) {
  Streams streams;
  streams.screen_ = options.screen;
  streams.wanted_ = options.terminal;
  if (options.terminal == Terminal::kAlways) streams.terminal_ = wire::TerminalUse::kOwn;
  if (options.output == Output::kPass) {
    for (int number = 0; number < 3; ++number) {
      if (sys::stream_kind(number) != sys::StreamKind::kTerminal) continue;
      streams.terminal_ = wire::TerminalUse::kOwn;
      if (streams.size_source_ < 0) streams.size_source_ = number;
    }
  }
  TRY(streams.open_input(options));
  TRY(streams.open_output(1, options));
  TRY(streams.open_output(2, options));
  return streams;
}

Status Streams::open_input(StreamOptions options) {
  const sys::StreamKind kind = sys::stream_kind(0);
  if (kind == sys::StreamKind::kTerminal && terminal_ == wire::TerminalUse::kOwn) {
    caller_terminal_ = 0;
    return {};
  }
  if (options.terminal == Terminal::kAlways) return {};
  if (is_straight(kind)) {
    childs_[0] = TRY(sys::duplicate(0));
    return {};
  }
  return add_pipe_from(kind == sys::StreamKind::kClosed ? -1 : 0);
}

Status Streams::open_output(int number, StreamOptions options) {
  const auto index = static_cast<std::size_t>(number);
  const sys::StreamKind kind = sys::stream_kind(number);
  const bool pass = options.output == Output::kPass;
  if (options.terminal == Terminal::kAlways) return {};
  if (pass && kind == sys::StreamKind::kTerminal) return {};
  if (pass && is_straight(kind) && !options.watch_output) {
    childs_[index] = TRY(sys::duplicate(number));
    return {};
  }
  // One pipe for both keeps the order of what is written to them: `> file 2>&1`.
  if (pass && number == 2 && childs_[1] && !is_straight(kind) && sys::is_same_open_file(1, 2)) {
    childs_[2] = TRY(sys::duplicate(childs_[1].get()));
    return {};
  }
  childs_[index] = TRY(add_pipe_to(number, options));
  return {};
}

Status Streams::add_pipe_from(int source) {
  auto [read, write] = TRY(sys::pipe());
  childs_[0] = std::move(read);
  if (source < 0) return {};  // the writing end goes now: the command reads the end at once
  Pump pump;
  pump.from = source;
  pump.to = write.get();
  pump.owned_to = std::move(write);
  if (sys::stream_kind(source) == sys::StreamKind::kFile) pump.unread = TRY(sys::duplicate(childs_[0].get()));
  pumps_.push_back(std::move(pump));
  return {};
}

Result<UniqueFd> Streams::add_pipe_to(int number, StreamOptions options) {
  auto [read, write] = TRY(sys::pipe());
  Pump pump;
  pump.from = read.get();
  pump.owned_from = std::move(read);
  pump.is_output = true;
  if (options.output == Output::kCapture) {
    pump.capture = captures_[number == 1 ? 0 : 1].get();
  } else if (sys::is_open(number)) {
    pump.to = number;
    if (number == 2) pump.name = "standard error";
  }
  pumps_.push_back(std::move(pump));
  return std::move(write);
}

std::uint8_t Streams::stream_mask() const {
  unsigned mask = 0;
  for (unsigned i = 0; i < childs_.size(); ++i) mask |= childs_[i] ? 1U << i : 0U;
  return static_cast<std::uint8_t>(mask);
}

std::vector<int> Streams::child_descriptors() const {
  std::vector<int> descriptors;
  for (const UniqueFd& fd : childs_) {
    if (fd) descriptors.push_back(fd.get());
  }
  return descriptors;
}

void Streams::sent() {
  for (UniqueFd& fd : childs_) fd.reset();
}

Status Streams::describe_terminal(wire::Exec& exec) {
  if (size_source_ < 0) {
    if (wanted_ == Terminal::kAlways) std::tie(exec.rows, exec.columns) = std::pair(kRows, kColumns);
    return {};
  }
  const sys::TerminalSize size = TRY(sys::terminal_size(size_source_));
  exec.rows = size.rows;
  exec.columns = size.columns;
  exec.modes = TRY(sys::terminal_modes(size_source_));
  // Those it is left with. When the command's own terminal comes, a question may be on the screen, in modes of its own.
  if (caller_terminal_ >= 0 && sys::is_foreground(caller_terminal_)) {
    raw_.emplace(TRY(sys::RawMode::remember(caller_terminal_)));
  }
  return {};
}

Status Streams::attach_terminal(UniqueFd master) {
  master_ = std::move(master);
  TRY(resize_terminal());  // it may have changed since the command was sent
  // What the terminal shows goes to the first of 1 and 2 that is one; the screen is the same.
  const bool first = wanted_ == Terminal::kAlways || sys::stream_kind(1) == sys::StreamKind::kTerminal;
  const int screen = first ? 1 : 2;
  Pump out;
  out.from = master_.get();
  out.to = sys::stream_kind(screen) == sys::StreamKind::kTerminal ? screen : 0;
  if (wanted_ == Terminal::kAlways) out.to = sys::is_open(1) ? 1 : -1;
  if (out.to == 2) out.name = "standard error";
  if (sys::stream_kind(out.to) == sys::StreamKind::kTerminal) {
    // A terminal that poll(2) calls writable may have room for less than is written. A write that waits would keep this
    // process from its signals and its time limits.
    if (auto own = sys::open_again(out.to)) {
      out.to = own->get();
      out.owned_to = std::move(*own);
    }
  }
  out.is_output = true;
  out.screen = screen_;
  pumps_.push_back(std::move(out));
  if (caller_terminal_ < 0 && (wanted_ != Terminal::kAlways || !sys::is_open_for_reading(0))) return {};
  Pump keys;
  keys.from = std::max(caller_terminal_, 0);
  keys.to = master_.get();
  keys.terminal_input = caller_terminal_ >= 0;
  keys.types_end = !keys.terminal_input;
  pumps_.push_back(std::move(keys));
  return take_caller_terminal();
}

Status Streams::resize_terminal() const {
  if (!master_ || size_source_ < 0) return {};
  return sys::set_terminal_size(master_.get(), TRY(sys::terminal_size(size_source_)));
}

void Streams::redraw_terminal() const {
  if (master_ && screen_ != nullptr && screen_->is_alternate()) (void)sys::signal_resize(master_.get());
}

Status Streams::release_caller_terminal() const { return raw_ ? raw_->suspend() : Status(); }

Status Streams::take_caller_terminal() {
  if (!master_ || caller_terminal_ < 0 || !sys::is_foreground(caller_terminal_)) return {};
  if (raw_) return raw_->resume();
  raw_.emplace(TRY(sys::RawMode::enter(caller_terminal_)));
  return {};
}

void Streams::add_to(std::vector<pollfd>& wait) const {
  for (const Pump& pump : pumps_) {
    if (pump.finished) {
      wait.push_back({-1, 0, 0});
    } else if (!pump.held.empty()) {
      wait.push_back({pump.to, POLLOUT, 0});
    } else if (pump.terminal_input && !sys::is_foreground(pump.from)) {
      wait.push_back({-1, 0, 0});
    } else {
      wait.push_back({pump.from, POLLIN, 0});
    }
  }
}

Result<Streams::Progress> Streams::move(std::span<const pollfd> wait) {
  Progress progress = Progress::kNone;
  for (std::size_t i = 0; i < wait.size() && i < pumps_.size(); ++i) {
    Pump& pump = pumps_[i];
    if (wait[i].revents == 0 || pump.finished) continue;
    if (!pump.held.empty()) {
      write_held(pump);
      continue;
    }
    const std::size_t count = TRY(read_into(pump));
    if (count > 0 && pump.is_output) progress = Progress::kOutput;
  }
  return progress;
}

Status Streams::finish() {
  for (Pump& pump : pumps_) {
    if (pump.unread) give_back_unread(pump);
    if (!pump.is_output) end(pump);
  }
  // Every writer is gone, so each pipe comes to its end; a terminal's master answers EIO then. The wait is for a
  // reader of ours that is slow, and has a bound for one that never reads.
  for (;;) {
    std::vector<pollfd> wait;
    add_to(wait);
    if (std::ranges::all_of(wait, [](const pollfd& entry) { return entry.fd < 0; })) break;
    if (TRY(sys::poll(wait, kDrainWait)) == 0) break;
    TRY(move(wait));
  }
  raw_.reset();
  return {};
}

void Streams::write_held(Pump& pump) {
  const std::string_view piece = std::string_view(pump.held).substr(0, kWriteBytesMax);
  const auto count = sys::write_some(pump.to, piece);
  if (count) {
    pump.held.erase(0, *count);
    return;
  }
  if (count.error().sys_errno == EAGAIN) return;
  if (pump.is_output && !lost_output_ && !has_no_reader(pump.to, count.error().sys_errno)) {
    lost_output_ = Error::from_errno(pump.name, count.error().sys_errno);
  }
  // Closing our end lets the command meet the same as where nobody reads any more: EPIPE.
  end(pump);
}

namespace {

// A terminal that was hung up answers EIO (tty_ioctl(4), TIOCVHANGUP); of a file that is the disk's error.
bool has_no_reader(int fd, int number) {
  if (number == EIO) return sys::stream_kind(fd) == sys::StreamKind::kTerminal;
  return number == EPIPE || number == ECONNRESET;
}

Result<std::size_t> read_into(Pump& pump) {
  // Not on the stack, each page of which would be touched and stay: most reads are small. Streams have one thread.
  static char chunk[kChunkBytes];
  const std::size_t wanted = pump.capture == nullptr && !pump.is_output ? kWriteBytesMax : sizeof chunk;
  const auto count = sys::read_some(pump.from, {chunk, wanted});
  if (!count && (count.error().sys_errno == EAGAIN)) return 0;
  if (!count && pump.terminal_input && count.error().sys_errno == EIO) return 0;
  // EIO of a master: no process has the terminal open any more (pty(7)). EISDIR: a directory as input has no bytes.
  if (!count || *count == 0) {
    // Within a line the key ends the line alone (termios(3), VEOF).
    if (std::exchange(pump.types_end, false)) {
      pump.held.assign(pump.within_line ? 2 : 1, kEndOfInput);
      return 0;
    }
    end(pump);
    return 0;
  }
  const std::string_view bytes(chunk, *count);
  pump.within_line = bytes.back() != '\n';
  if (pump.screen != nullptr) pump.screen->watch(bytes);
  if (pump.capture != nullptr) {
    pump.capture->add(bytes);
  } else if (pump.to >= 0) {
    pump.held.assign(bytes);
  }
  return *count;
}

void end(Pump& pump) {
  pump.held.clear();
  pump.finished = true;
  pump.owned_from.reset();
  pump.owned_to.reset();
}

// As if the command itself had read the file: the next reader of the caller's descriptor goes on where it stopped.
void give_back_unread(const Pump& pump) {
  const std::size_t unread = pump.held.size() + sys::bytes_waiting(pump.unread.get());
  if (unread > 0) (void)sys::seek_back(pump.from, unread);
}

}  // namespace

}  // namespace hutch::sandbox
