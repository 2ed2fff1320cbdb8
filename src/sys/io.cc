// Descriptors.
#include "sys/io.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/magic.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>

#include "sys/call.h"

namespace hutch::sys {

namespace {

std::string number_text(int value) { return std::to_string(value); }

bool is_anonymous_pipe(int fd) {
  struct statfs system{};
  return ::fstatfs(fd, &system) == 0 && system.f_type == PIPEFS_MAGIC;
}

}  // namespace

Result<Pipe> pipe() {
  int ends[2] = {-1, -1};
  TRY(check(::pipe2(ends, O_CLOEXEC), {"pipe2()"}));
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<std::size_t> read_some(int fd, std::span<char> into) {
  const ssize_t count = retry([&] { return ::read(fd, into.data(), into.size()); });
  TRY(check(count, {"read(", number_text(fd), ")"}));
  return static_cast<std::size_t>(count);
}

Result<std::size_t> write_some(int fd, std::string_view bytes) {
  const ssize_t count = retry([&] { return ::write(fd, bytes.data(), bytes.size()); });
  TRY(check(count, {"write(", number_text(fd), ")"}));
  return static_cast<std::size_t>(count);
}

Result<OpenFor> opened_for(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  TRY(check(flags, {"fcntl(F_GETFL)"}));
  if ((flags & O_ACCMODE) == O_RDONLY) return OpenFor::kReading;
  return (flags & O_ACCMODE) == O_WRONLY ? OpenFor::kWriting : OpenFor::kBoth;
}

Status write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    auto count = write_some(fd, bytes);
    if (count) {
      bytes.remove_prefix(*count);
      continue;
    }
    if (count.error().sys_errno != EAGAIN) return fail(std::move(count).error());
    pollfd room{fd, POLLOUT, 0};
    TRY(poll({&room, 1}, std::nullopt));
  }
  return {};
}

Result<std::string> read_to_end(int fd, std::size_t bytes_max) {
  std::string all;
  char buffer[4096];
  for (;;) {
    const std::size_t count = TRY(read_some(fd, buffer));
    if (count == 0) return all;
    if (all.size() + count > bytes_max) {
      return fail(Error::invalid(cat({"more than ", std::to_string(bytes_max), " bytes"})));
    }
    all.append(buffer, count);
  }
}

Result<int> poll(std::span<pollfd> fds, std::optional<std::chrono::milliseconds> timeout) {
  const int wait = timeout ? static_cast<int>(std::clamp<std::int64_t>(timeout->count(), 0, 1 << 30)) : -1;
  const int ready = ::poll(fds.data(), fds.size(), wait);
  if (ready < 0 && errno == EINTR) {
    for (pollfd& entry : fds) entry.revents = 0;
    return 0;
  }
  TRY(check(ready, {"poll()"}));
  return ready;
}

Status set_nonblocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  TRY(check(flags, {"fcntl(", number_text(fd), ", F_GETFL)"}));
  return check(::fcntl(fd, F_SETFL, flags | O_NONBLOCK), {"fcntl(", number_text(fd), ", F_SETFL)"});
}

Status restore_blocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  TRY(check(flags, {"fcntl(", number_text(fd), ", F_GETFL)"}));
  return check(::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK), {"fcntl(", number_text(fd), ", F_SETFL)"});
}

Status install_fd(int fd, int target) {
  if (fd == target) return check(::fcntl(fd, F_SETFD, 0), {"fcntl(", number_text(fd), ", F_SETFD)"});
  return check(retry([&] { return ::dup2(fd, target); }), {"dup2(", number_text(fd), ", ", number_text(target), ")"});
}

Result<UniqueFd> duplicate(int fd, int number_min) {
  return check_fd(::fcntl(fd, F_DUPFD_CLOEXEC, number_min), {"fcntl(", number_text(fd), ", F_DUPFD_CLOEXEC)"});
}

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

bool is_open_for_reading(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_WRONLY;
}

bool is_same_open_file(int a, int b) {
  const pid_t self = ::getpid();
  return ::syscall(SYS_kcmp, self, self, KCMP_FILE, a, b) == 0;
}

Status close_from(int first) {
  return check(::syscall(SYS_close_range, first, ~0U, 0), {"close_range(", number_text(first), ")"});
}

Status cloexec_from(int first) {
  static constexpr unsigned kCloexec = 1U << 2;  // CLOSE_RANGE_CLOEXEC
  return check(::syscall(SYS_close_range, first, ~0U, kCloexec), {"close_range(", number_text(first), ", CLOEXEC)"});
}

Status fill_standard_streams() {
  for (int number = 0; number < 3; ++number) {
    if (is_open(number)) continue;
    const int fd = ::open("/dev/null", O_RDWR | O_NOCTTY);  // the lowest free number: this one (open(2))
    TRY(check(fd, {"open(/dev/null)"}));
  }
  return {};
}

StreamKind stream_kind(int fd) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) return StreamKind::kClosed;
  if (S_ISFIFO(info.st_mode)) return is_anonymous_pipe(fd) ? StreamKind::kPipe : StreamKind::kFile;
  if (S_ISSOCK(info.st_mode)) return StreamKind::kSocket;
  if (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode) || S_ISBLK(info.st_mode)) return StreamKind::kFile;
  return ::isatty(fd) == 1 ? StreamKind::kTerminal : StreamKind::kOther;
}

std::size_t bytes_waiting(int fd) {
  int count = 0;
  return ::ioctl(fd, FIONREAD, &count) == 0 && count > 0 ? static_cast<std::size_t>(count) : 0;
}

bool has_read_all(int socket) {
  int unread = 0;
  return ::ioctl(socket, SIOCOUTQ, &unread) != 0 || unread == 0;
}

Status seek_back(int fd, std::size_t bytes) {
  return check(::lseek(fd, -static_cast<off_t>(bytes), SEEK_CUR), {"lseek(", number_text(fd), ")"});
}

}  // namespace hutch::sys
