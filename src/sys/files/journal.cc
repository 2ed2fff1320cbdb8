// The wrappers of journal.h.
#include "sys/files/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <ctime>

#include "sys/call.h"

namespace hutch::sys {

namespace {

Result<UniqueFd> open_own_file(const std::string& path, int flags);
Result<JournalStatus> status_from(int answer, const struct stat& status, const std::string& what);

}  // namespace

Result<UniqueFd> open_journal(const std::string& path) { return open_own_file(path, O_RDWR | O_APPEND | O_CREAT); }

Result<UniqueFd> open_journal_to_read(const std::string& path) { return open_own_file(path, O_RDONLY); }

Status append(int fd, std::string_view bytes) {
  const ssize_t count = retry([&] { return ::write(fd, bytes.data(), bytes.size()); });
  TRY(check(count, {"write(", std::to_string(fd), ")"}));
  if (static_cast<std::size_t>(count) != bytes.size()) return fail(Error::from_errno("write()", ENOSPC));
  return {};
}

Result<JournalStatus> journal_status(int fd) {
  struct stat status = {};
  const int answer = ::fstat(fd, &status);
  return status_from(answer, status, "fstat()");
}

Result<JournalStatus> journal_status(const std::string& path) {
  struct stat status = {};
  const int answer = ::lstat(path.c_str(), &status);
  return status_from(answer, status, cat({"lstat(", path, ")"}));
}

Status lock_journal(int fd) {
  return check(retry([&] { return ::flock(fd, LOCK_EX); }), {"flock(", std::to_string(fd), ")"});
}

Status rename_file(const std::string& from, const std::string& to) {
  return check(::rename(from.c_str(), to.c_str()), {"rename(", from, ", ", to, ")"});
}

Result<std::string> random_hex(std::size_t bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t made = 0; made < bytes; ++made) {
    unsigned char value = 0;
    TRY(check(retry([&] { return ::getrandom(&value, 1, 0); }), {"getrandom()"}));
    text += kDigits[value >> 4];
    text += kDigits[value & 15];
  }
  return text;
}

std::string local_time_text(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts = {};
  std::array<char, 32> text;
  if (!::localtime_r(&seconds, &parts) || std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts) == 0) {
    return std::to_string(seconds);
  }
  return text.data();
}

namespace {

// O_NONBLOCK: a FIFO in the file's place must not make the caller wait for another end (fifo(7)).
Result<UniqueFd> open_own_file(const std::string& path, int flags) {
  const int all = flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;
  const int raw = retry([&] { return ::open(path.c_str(), all, 0600); });
  UniqueFd fd = TRY(check_fd(raw, {"open(", path, ")"}));
  struct stat status = {};
  TRY(check(::fstat(fd.get(), &status), {"fstat(", path, ")"}));
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid()) {
    return fail(Error::invalid(cat({path, " is not a file of this user's own"})));
  }
  return fd;
}

Result<JournalStatus> status_from(int answer, const struct stat& status, const std::string& what) {
  TRY(check(answer, {what}));
  return JournalStatus{static_cast<std::uint64_t>(status.st_size), static_cast<std::uint64_t>(status.st_dev),
                       static_cast<std::uint64_t>(status.st_ino)};
}

}  // namespace

}  // namespace hutch::sys
