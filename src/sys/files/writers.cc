// Whether anybody can still write a file.
#include "sys/files/writers.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "sys/call.h"

namespace hutch::sys {

// The kernel grants a lease for reading only if no descriptor and no mapping for writing is left. Whoever opens the
// file for writing while there is a lease waits for its end, so it ends at once.
Result<bool> has_writer(int fd) {
  if (::fcntl(fd, F_SETLEASE, F_RDLCK) == 0) {
    TRY(check(::fcntl(fd, F_SETLEASE, F_UNLCK), {"fcntl(F_SETLEASE)"}));
    return false;
  }
  const int error = errno;
  if (error == EAGAIN) return true;
  return fail(Error::from_errno("fcntl(F_SETLEASE)", error));
}

Result<ClosingWatch> ClosingWatch::make() {
  return ClosingWatch(TRY(check_fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK), {"inotify_init1()"})));
}

Status ClosingWatch::add(int fd) const {
  const std::string path = cat({"self/fd/", std::to_string(fd)});
  return check(::inotify_add_watch(fd_.get(), path.c_str(), IN_CLOSE_WRITE), {"inotify_add_watch(", path, ")"});
}

void ClosingWatch::clear() const {
  alignas(inotify_event) std::array<char, 4096> events{};
  while (retry([&] { return ::read(fd_.get(), events.data(), events.size()); }) > 0) {}
}

}  // namespace hutch::sys
