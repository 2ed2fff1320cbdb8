// Calls about sockets that one process makes for another.
#include "sys/net/foreign_socket.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "sys/call.h"
#include "sys/kernel_abi.h"

namespace hutch::sys {

namespace {

const sockaddr* as_address(const void* bytes) { return static_cast<const sockaddr*>(bytes); }

Result<sockaddr_un> unix_address(std::string_view path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return fail(Error::from_errno("a socket's name", ENAMETOOLONG));
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

constexpr suseconds_t kLongWaitUs = 10'000;

// Without SA_RESTART.
void interrupt_at_alarm() {
  struct sigaction action{};
  action.sa_handler = [](int) {};
  (void)::sigaction(SIGALRM, &action, nullptr);
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  (void)::sigprocmask(SIG_UNBLOCK, &alarm, nullptr);
}

}  // namespace

// Again and again: the first may come before the call does.
NoLongWait::NoLongWait() {
  [[maybe_unused]] static const bool ready = (interrupt_at_alarm(), true);
  static constexpr itimerval kOften = {{0, kLongWaitUs}, {0, kLongWaitUs}};
  (void)::setitimer(ITIMER_REAL, &kOften, nullptr);
}

NoLongWait::~NoLongWait() {
  static constexpr itimerval kNone{};
  (void)::setitimer(ITIMER_REAL, &kNone, nullptr);
}

Result<SocketFamily> family_of_socket(int socket) {
  int family = 0;
  socklen_t size = sizeof family;
  TRY(check(::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &size), {"getsockopt(SO_DOMAIN)"}));
  return family == AF_UNIX ? SocketFamily::kUnix : SocketFamily::kOther;
}

std::string path_in_address(std::string_view address) {
  sa_family_t family = AF_UNSPEC;
  // A longer one the kernel refuses.
  if (address.size() <= sizeof family || address.size() > sizeof(sockaddr_un)) return {};
  std::memcpy(&family, address.data(), sizeof family);
  if (family != AF_UNIX) return {};
  const std::string_view path = address.substr(sizeof family);
  return std::string(path.substr(0, path.find('\0')));
}

Result<Blocking> blocking_of(int socket) {
  const int flags = ::fcntl(socket, F_GETFL);
  TRY(check(flags, {"fcntl(F_GETFL)"}));
  return (flags & O_NONBLOCK) != 0 ? Blocking::kNo : Blocking::kYes;
}

std::chrono::milliseconds send_timeout_of(int socket) {
  timeval timeout{};
  socklen_t size = sizeof timeout;
  if (::getsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &timeout, &size) < 0) return {};
  return std::chrono::seconds(timeout.tv_sec) + std::chrono::milliseconds((timeout.tv_usec + 999) / 1000);
}

// The mode is the open socket's, which others may share; they have it back before they can have missed it, because who
// calls connect(2) waits for this process.
Status connect_now(int socket, std::string_view address) {
  const int flags = ::fcntl(socket, F_GETFL);
  TRY(check(flags, {"fcntl(F_GETFL)"}));
  const bool waits = (flags & O_NONBLOCK) == 0;
  if (waits) TRY(check(::fcntl(socket, F_SETFL, flags | O_NONBLOCK), {"fcntl(F_SETFL)"}));
  Status connected =
      check(::connect(socket, as_address(address.data()), static_cast<socklen_t>(address.size())), {"connect()"});
  if (!connected && connected.error().sys_errno == EINTR) connected = fail(Error::from_errno("connect()", EAGAIN));
  if (waits) TRY(check(::fcntl(socket, F_SETFL, flags), {"fcntl(F_SETFL)"}));
  return connected;
}

Status connect_to_file(int socket, int file) {
  const sockaddr_un address = TRY(unix_address(cat({"self/fd/", std::to_string(file)})));
  return connect_now(socket, {reinterpret_cast<const char*>(&address), sizeof address});
}

Status bind_to(int socket, std::string_view address) {
  return check(::bind(socket, as_address(address.data()), static_cast<socklen_t>(address.size())), {"bind()"});
}

Status bind_here(int socket, const std::string& name) {
  const sockaddr_un address = TRY(unix_address(name));
  const std::size_t size = offsetof(sockaddr_un, sun_path) + name.size() + 1;
  return bind_to(socket, {reinterpret_cast<const char*>(&address), size});
}

Result<UniqueFd> bound_file(int socket) { return check_fd(::ioctl(socket, kUnixFile), {"ioctl(SIOCUNIXFILE)"}); }

Result<bool> is_anybody_at(int file, int like) {
  int type = 0;
  socklen_t size = sizeof type;
  TRY(check(::getsockopt(like, SOL_SOCKET, SO_TYPE, &type, &size), {"getsockopt(SO_TYPE)"}));
  const UniqueFd socket = TRY(check_fd(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), {"socket(AF_UNIX)"}));
  const Status connected = connect_to_file(socket.get(), file);
  return connected || connected.error().sys_errno != ECONNREFUSED;
}

Result<SocketFile> look_at_socket(int file) {
  struct statx info{};
  TRY(check(::statx(file, "", AT_EMPTY_PATH, STATX_TYPE | STATX_INO | STATX_BTIME, &info), {"statx()"}));
  const std::int64_t made = (info.stx_mask & STATX_BTIME) != 0 ? info.stx_btime.tv_sec * 1'000'000'000LL +
                                                                     static_cast<std::int64_t>(info.stx_btime.tv_nsec)
                                                               : 0;
  return SocketFile{{::makedev(info.stx_dev_major, info.stx_dev_minor), info.stx_ino, made}, S_ISSOCK(info.stx_mode)};
}

}  // namespace hutch::sys
