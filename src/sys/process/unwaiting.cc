// Reading and writing that do not wait.
#include "sys/process/unwaiting.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <chrono>
#include <optional>

#include "sys/call.h"
#include "sys/io.h"
#include "sys/process/signals.h"

namespace hutch::sys {

namespace {

constexpr off_t kWhereItStands = -1;
// No descriptor announces a blocked signal to a process that has not asked for it.
constexpr std::chrono::milliseconds kToldCheck{200};
// How long a reader may pause once this process has been told to end: a slow reader gets all of an outcome.
constexpr std::chrono::milliseconds kToldWait{2000};

// The device number that a terminal has under every name (ioctl_tty(2)).
std::optional<unsigned> terminal_device(int fd) {
  unsigned device = 0;
  return ::ioctl(fd, TIOCGDEV, &device) == 0 ? std::optional(device) : std::nullopt;
}

}  // namespace

Result<std::size_t> read_now(int fd, std::span<char> into) {
  const iovec part{into.data(), into.size()};
  const ssize_t count = retry([&] { return ::preadv2(fd, &part, 1, kWhereItStands, RWF_NOWAIT); });
  if (count < 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) return read_some(fd, into);
  TRY(check(count, {"preadv2(", std::to_string(fd), ")"}));
  return static_cast<std::size_t>(count);
}

Result<std::size_t> write_now(int fd, std::string_view bytes) {
  const iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  const ssize_t count = retry([&] { return ::pwritev2(fd, &part, 1, kWhereItStands, RWF_NOWAIT); });
  if (count < 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) return write_some(fd, bytes.substr(0, PIPE_BUF));
  TRY(check(count, {"pwritev2(", std::to_string(fd), ")"}));
  return static_cast<std::size_t>(count);
}

Result<UniqueFd> open_again(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  TRY(check(flags, {"fcntl(F_GETFL)"}));
  const int again = (flags & O_ACCMODE) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const std::string path = cat({"/proc/self/fd/", std::to_string(fd)});
  auto opened = check_fd(::open(path.c_str(), again), {"open(", path, ")"});
  const auto device = terminal_device(fd);
  if (opened || !device) return opened;
  UniqueFd own = TRY(check_fd(::open("/dev/tty", again), {"open(/dev/tty)"}));
  if (terminal_device(own.get()) != device) return opened;
  return own;
}

UnwaitingWriter::UnwaitingWriter(int fd) : fd_(fd) {
  struct stat what{};
  if (::fstat(fd, &what) != 0) return;
  is_socket_ = S_ISSOCK(what.st_mode);
  if (!S_ISFIFO(what.st_mode) && !(S_ISCHR(what.st_mode) && terminal_device(fd))) return;
  if (auto own = open_again(fd)) own_ = std::move(*own);
}

Result<std::size_t> UnwaitingWriter::write(std::string_view bytes) const {
  if (!is_socket_) return write_some(fd(), bytes);
  const ssize_t count = retry([&] { return ::send(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL); });
  TRY(check(count, {"send(", std::to_string(fd_), ")"}));
  return static_cast<std::size_t>(count);
}

Status write_until_told(int fd, std::string_view bytes) {
  const UnwaitingWriter writer(fd);
  auto read_last = std::chrono::steady_clock::now();
  while (!bytes.empty()) {
    const auto count = writer.write(bytes);
    const auto now = std::chrono::steady_clock::now();
    if (count) {
      bytes.remove_prefix(*count);
      read_last = now;
      continue;
    }
    if (count.error().sys_errno != EAGAIN) return fail(count.error());
    if (is_told_to_end() && now - read_last > kToldWait) return fail(Error::from_errno("write()", EINTR));
    pollfd room{writer.fd(), POLLOUT, 0};
    TRY(poll({&room, 1}, kToldCheck));
  }
  return {};
}

}  // namespace hutch::sys
