// One end of a channel.
#include "guest/machine/relay_channel.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "base/text.h"
#include "sys/channel.h"
#include "sys/io.h"
#include "sys/process/shutdown.h"
#include "sys/process/unwaiting.h"

namespace hutch::guest {

namespace {

using wire::ChannelKind;

constexpr std::size_t kPiecesMax = 256;  // of a channel, that wait to be written

bool would_wait(const Error& error) { return error.sys_errno == EAGAIN; }

std::vector<int> numbers_of(const std::vector<UniqueFd>& descriptors) {
  std::vector<int> numbers;
  for (const UniqueFd& fd : descriptors) numbers.push_back(fd.get());
  return numbers;
}

}  // namespace

RelayChannel::RelayChannel(std::uint32_t number, ChannelKind kind, Opened opened, UniqueFd fd)
    : number_(number), kind_(kind), opened_(opened), fd_(std::move(fd)) {
  const bool here = opened == Opened::kHere;
  sends_ = kind != (here ? ChannelKind::kSink : ChannelKind::kSource);
  receives_ = kind != (here ? ChannelKind::kSource : ChannelKind::kSink);
}

Result<RelayChannel> RelayChannel::make(std::uint32_t number, ChannelKind kind, Opened opened, UniqueFd fd) {
  const sys::StreamKind stream = sys::stream_kind(fd.get());
  // Others may use the same end, and wait at it. One that another user made cannot be opened.
  auto own = stream == sys::StreamKind::kPipe ? sys::open_again(fd.get()) : Result<UniqueFd>(UniqueFd());
  if (own && *own) fd = std::move(*own);
  if (stream == sys::StreamKind::kTerminal) TRY(sys::set_nonblocking(fd.get()));
  RelayChannel made(number, kind, opened, std::move(fd));
  made.is_socket_ = stream == sys::StreamKind::kSocket;
  return made;
}

std::optional<short> RelayChannel::awaited() const {
  if (!fd_) return std::nullopt;
  int events = 0;
  if (sends_ && credit_ > 0) events |= POLLIN;
  if (!waiting_.empty()) events |= POLLOUT;
  // The reader's end of a pipe is told without being asked for (poll(2), POLLERR).
  const bool only_receives = receives_ && !sends_ && !refuses_;
  if (events == 0 && !only_receives) return std::nullopt;
  return static_cast<short>(events);
}

std::size_t RelayChannel::to_take() const { return sends_ && fd_ ? sys::bytes_waiting(fd_.get()) : 0; }

Result<RelayChannel::Taken> RelayChannel::take(std::size_t bytes_max) {
  Taken taken;
  if (!sends_ || credit_ == 0 || !fd_) return taken;
  std::string bytes(std::min<std::size_t>({credit_, wire::kChannelDataMax, bytes_max}), '\0');
  std::size_t size = 0;
  if (is_socket_) {
    auto received = sys::receive_now(fd_.get(), bytes);
    if (!received && would_wait(received.error())) return taken;
    if (received) taken.descriptors = std::move(received->descriptors);
    size = received ? received->size : 0;
  } else {
    const auto read = sys::read_now(fd_.get(), bytes);
    if (!read && would_wait(read.error())) return taken;
    // A terminal whose other side has gone answers with an error (pty(7)).
    size = read.value_or(0);
  }
  if (size == 0) {
    taken.ended = true;
    close_sending();
    return taken;
  }
  bytes.resize(size);
  credit_ -= static_cast<std::uint32_t>(size);
  taken.bytes = std::move(bytes);
  return taken;
}

void RelayChannel::close_sending() {
  sends_ = false;
  // Of a terminal nothing is left then, and nobody types into one that has gone.
  if (kind_ == ChannelKind::kTerminal || kind_ == ChannelKind::kGuest) receives_ = false;
  if (is_over()) fd_.reset();
}

// Pieces of a byte each would take many times what the credit for them allows. What is joined to an earlier one comes
// early for those that wait behind that, never late.
bool RelayChannel::joins_last(const Arrived& arrived) const {
  if (waiting_.empty() || kind_ == ChannelKind::kGuest || !arrived.descriptors.empty()) return false;
  return waiting_.back().order > arrived.of_guest || waiting_.size() >= kPiecesMax;
}

Status RelayChannel::put(Arrived arrived) {
  std::string& bytes = arrived.bytes;
  if (ended_) return fail(Error::invalid("data on a channel that has ended"));
  // It was closed here, of which the other side has not heard yet.
  if (!receives_) return {};
  if (bytes.size() > granted_) return fail(Error::invalid("more data than a channel has credit for"));
  granted_ -= static_cast<std::uint32_t>(bytes.size());
  if (refuses_ || bytes.empty()) return {};
  if (!joins_last(arrived)) {
    descriptors_waiting_ += arrived.descriptors.size();
    waiting_.push_back({std::move(bytes), 0, std::move(arrived.descriptors), arrived.order});
    return {};
  }
  Piece& last = waiting_.back();
  if (last.written >= wire::kChannelDataMax) last.bytes.erase(0, std::exchange(last.written, 0));
  last.bytes += bytes;
  return {};
}

Status RelayChannel::add_credit(std::uint32_t bytes) {
  if (bytes > std::numeric_limits<std::uint32_t>::max() - credit_) return fail(Error::invalid("too much credit"));
  credit_ += bytes;
  return {};
}

void RelayChannel::end() {
  ended_ = true;
  if (waiting_.empty()) settle();
}

bool RelayChannel::stop() {
  const bool was_sending = sends_;
  close_sending();
  return was_sending;
}

void RelayChannel::drop_waiting() {
  waiting_.clear();
  descriptors_waiting_ = 0;
}

bool RelayChannel::holds_descriptors(std::size_t count) {
  if (descriptors_waiting_ + descriptors_written_ < count) return false;
  if (!fd_ || sys::has_read_all(fd_.get())) descriptors_written_ = 0;
  return descriptors_waiting_ + descriptors_written_ >= count;
}

std::optional<std::uint64_t> RelayChannel::oldest() const {
  return waiting_.empty() ? std::nullopt : std::optional(waiting_.front().order);
}

RelayChannel::Written RelayChannel::write_out(std::uint64_t last) {
  Written written;
  while (!waiting_.empty() && waiting_.front().order <= last) {
    Piece& piece = waiting_.front();
    const auto count = write_some(piece);
    if (!count || *count == 0) {
      if (count || would_wait(count.error())) break;
      drop_waiting();
      written.stopped = !std::exchange(refuses_, true) && !ended_;
      break;
    }
    descriptors_waiting_ -= piece.descriptors.size();
    descriptors_written_ += piece.descriptors.size();
    piece.descriptors.clear();
    piece.written += *count;
    to_grant_ += static_cast<std::uint32_t>(*count);
    if (piece.written == piece.bytes.size()) waiting_.pop_front();
  }
  if (to_grant_ >= wire::kChannelWindow / 2) {
    granted_ += to_grant_;
    written.credit = std::exchange(to_grant_, 0);
  }
  if (waiting_.empty() && ended_) settle();
  return written;
}

RelayChannel::Written RelayChannel::lose_reader() {
  Written written;
  if (!receives_ || sends_) return written;
  drop_waiting();
  written.stopped = !std::exchange(refuses_, true) && !ended_;
  if (ended_) settle();
  return written;
}

Result<std::size_t> RelayChannel::write_some(const Piece& piece) const {
  const std::string_view rest = std::string_view(piece.bytes).substr(piece.written);
  if (!is_socket_) return sys::write_now(fd_.get(), rest);
  return sys::send_now(fd_.get(), rest, numbers_of(piece.descriptors));
}

void RelayChannel::settle() {
  receives_ = false;
  if (kind_ == ChannelKind::kGuest || kind_ == ChannelKind::kTerminal) sends_ = false;
  if (is_over()) {
    fd_.reset();
  } else if (is_socket_) {
    (void)sys::shut_down(fd_.get(), sys::Direction::kWriting);
  }
}

std::optional<sys::TerminalSize> RelayChannel::new_size() {
  if (kind_ != ChannelKind::kTerminal || opened_ == Opened::kHere || !fd_) return std::nullopt;
  const auto size = sys::terminal_size(fd_.get());
  if (!size || (size_ && size_->rows == size->rows && size_->columns == size->columns)) return std::nullopt;
  const bool first = !std::exchange(size_, *size).has_value();
  // It begins with none, and what it stands for has its own.
  return first && size->rows == 0 ? std::nullopt : size_;
}

void RelayChannel::set_size(sys::TerminalSize size) const {
  if (kind_ == ChannelKind::kTerminal && opened_ == Opened::kHere && fd_) (void)sys::set_terminal_size(fd_.get(), size);
}

}  // namespace hutch::guest
