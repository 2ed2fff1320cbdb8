// Unix sockets with a name, and the lock that one program holds.
#include "sys/net/local_socket.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <sstream>

#include "sys/call.h"
#include "sys/files/files.h"
#include "sys/io.h"

namespace hutch::sys {

namespace {

constexpr int kLocalBacklog = 128;
constexpr std::size_t kLocksBytesMax = 1 << 20;

Result<sockaddr_un> local_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return fail(Error::invalid(cat({path, ": too long for a socket's name (107 bytes, unix(7))"})));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

enum class Waiting { kYes, kNo };
Result<UniqueFd> local_socket(Waiting blocking = Waiting::kYes) {
  const int kind = SOCK_STREAM | SOCK_CLOEXEC | (blocking == Waiting::kNo ? SOCK_NONBLOCK : 0);
  return check_fd(::socket(AF_UNIX, kind, 0), {"socket(AF_UNIX)"});
}

// A name of at most 107 bytes for what may have a longer one (proc_pid_fd(5)).
std::string name_beneath(int directory, const std::string& name) {
  return cat({"/proc/self/fd/", std::to_string(directory), "/", name});
}

}  // namespace

Result<UniqueFd> listen_local(const std::string& path) {
  const sockaddr_un address = TRY(local_address(path));
  UniqueFd socket = TRY(local_socket());
  ::unlink(path.c_str());
  // The mode of the socket before it has a name: it is never open to others, not for a moment.
  TRY(check(::fchmod(socket.get(), 0600), {"fchmod(socket)"}));
  const auto* named = reinterpret_cast<const sockaddr*>(&address);
  TRY(check(::bind(socket.get(), named, sizeof(address)), {"bind(", path, ")"}));
  TRY(check(::chmod(path.c_str(), 0600), {"chmod(", path, ")"}));
  TRY(check(::listen(socket.get(), kLocalBacklog), {"listen(", path, ")"}));
  return socket;
}

Result<UniqueFd> connect_local(const std::string& path) {
  const sockaddr_un address = TRY(local_address(path));
  UniqueFd socket = TRY(local_socket());
  const auto* named = reinterpret_cast<const sockaddr*>(&address);
  const int answer = retry([&] { return ::connect(socket.get(), named, sizeof(address)); });
  if (answer < 0 && (errno == ENOENT || errno == ECONNREFUSED)) {
    const int err = errno;
    Error error = Error::from_errno(cat({"connect(", path, ")"}), err);
    error.code = Code::kNotFound;
    return fail(std::move(error));
  }
  TRY(check(answer, {"connect(", path, ")"}));
  return socket;
}

Result<UniqueFd> listen_beneath(int directory, const std::string& name) {
  const std::string unfinished = cat({".", name});
  const std::string path = name_beneath(directory, unfinished);
  const sockaddr_un address = TRY(local_address(path));
  UniqueFd socket = TRY(local_socket(Waiting::kNo));
  ::unlinkat(directory, unfinished.c_str(), 0);
  TRY(check(::fchmod(socket.get(), 0600), {"fchmod(socket)"}));
  const auto* named = reinterpret_cast<const sockaddr*>(&address);
  TRY(check(::bind(socket.get(), named, sizeof(address)), {"bind(", name, ")"}));
  TRY(check(::fchmodat(directory, unfinished.c_str(), 0600, 0), {"chmod(", name, ")"}));
  TRY(check(::listen(socket.get(), kLocalBacklog), {"listen(", name, ")"}));
  TRY(check(::renameat(directory, unfinished.c_str(), directory, name.c_str()), {"rename(", unfinished, ")"}));
  return socket;
}

Result<UniqueFd> connect_beneath(int directory, const std::string& name) {
  const sockaddr_un address = TRY(local_address(name_beneath(directory, name)));
  UniqueFd socket = TRY(local_socket(Waiting::kNo));
  const auto* named = reinterpret_cast<const sockaddr*>(&address);
  if (retry([&] { return ::connect(socket.get(), named, sizeof(address)); }) == 0) return socket;
  const int err = errno;
  Error error = Error::from_errno(cat({"connect(", name, ")"}), err);
  if (err == ENOENT || err == ECONNREFUSED) error.code = Code::kNotFound;
  return fail(std::move(error));
}

void forget_beneath(int directory, const std::string& name) { ::unlinkat(directory, name.c_str(), 0); }

Result<Peer> peer_of(int socket) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  TRY(check(::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size), {"getsockopt(SO_PEERCRED)"}));
  return Peer{credentials.pid, credentials.uid};
}

Result<std::optional<LocalConnection>> accept_local(int listener, std::optional<std::chrono::milliseconds> wait) {
  pollfd ready{listener, POLLIN, 0};
  if (TRY(poll({&ready, 1}, wait)) == 0) return std::optional<LocalConnection>();
  const int accepted = retry([&] { return ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC); });
  if (accepted < 0 && (errno == EAGAIN || errno == ECONNABORTED)) return std::optional<LocalConnection>();
  LocalConnection connection{TRY(check_fd(accepted, {"accept4()"})), {}};
  connection.peer = TRY(peer_of(connection.socket.get()));
  return std::optional(std::move(connection));
}

void forget_local(const std::string& path) { ::unlink(path.c_str()); }

Status set_send_timeout(int socket, std::chrono::milliseconds timeout) {
  const timeval value{timeout.count() / 1000, (timeout.count() % 1000) * 1000};
  return check(::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &value, sizeof(value)), {"setsockopt(SO_SNDTIMEO)"});
}

Status set_receive_timeout(int socket, std::chrono::milliseconds timeout) {
  const timeval value{timeout.count() / 1000, (timeout.count() % 1000) * 1000};
  return check(::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &value, sizeof(value)), {"setsockopt(SO_RCVTIMEO)"});
}

Result<int> unread_by_peer(int socket) {
  int bytes = 0;
  TRY(check(::ioctl(socket, SIOCOUTQ, &bytes), {"ioctl(SIOCOUTQ)"}));
  return bytes;
}

void shut_down(int socket, ShutDown what) { ::shutdown(socket, what == ShutDown::kReading ? SHUT_RD : SHUT_RDWR); }

Result<std::string> peek(int socket, std::size_t bytes) {
  std::string seen(bytes, '\0');
  const ssize_t count = retry([&] { return ::recv(socket, seen.data(), bytes, MSG_PEEK | MSG_WAITALL); });
  TRY(check(count, {"recv(MSG_PEEK)"}));
  seen.resize(static_cast<std::size_t>(count));
  return seen;
}

Result<std::optional<UniqueFd>> try_lock_file(const std::string& path) {
  UniqueFd file =
      TRY(check_fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600), {"open(", path, ")"}));
  const int answer = retry([&] { return ::flock(file.get(), LOCK_EX | LOCK_NB); });
  if (answer < 0 && errno == EWOULDBLOCK) return std::optional<UniqueFd>();
  TRY(check(answer, {"flock(", path, ")"}));
  return std::optional(std::move(file));
}

Result<std::optional<UniqueFd>> inherited_lock(int descriptor, const std::string& path) {
  struct stat given{};
  struct stat file{};
  if (::fstat(descriptor, &given) != 0 || ::lstat(path.c_str(), &file) != 0) return std::optional<UniqueFd>();
  if (given.st_dev != file.st_dev || given.st_ino != file.st_ino) return std::optional<UniqueFd>();
  // Whoever shares its open file description has the lock (flock(2)); another process's is refused.
  const int answer = retry([&] { return ::flock(descriptor, LOCK_EX | LOCK_NB); });
  TRY(check(answer, {"flock(", std::to_string(descriptor), ")"}));
  TRY(check(::fcntl(descriptor, F_SETFD, FD_CLOEXEC), {"fcntl(F_SETFD)"}));
  return std::optional(UniqueFd(descriptor));
}

std::optional<pid_t> lock_holder(const std::string& path) {
  struct stat file{};
  if (::stat(path.c_str(), &file) != 0) return std::nullopt;
  const auto text = read_file("/proc/locks", kLocksBytesMax);
  if (!text) return std::nullopt;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    int pid = 0;
    unsigned major = 0;
    unsigned minor = 0;
    unsigned long long inode = 0;
    const int fields = std::sscanf(line.c_str(), "%*s FLOCK %*s %*s %d %x:%x:%llu", &pid, &major, &minor, &inode);
    if (fields == 4 && pid > 0 && inode == file.st_ino && makedev(major, minor) == file.st_dev) return pid;
  }
  return std::nullopt;
}

Result<UniqueFd> hold_file(const std::string& path) {
  UniqueFd file =
      TRY(check_fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600), {"open(", path, ")"}));
  struct flock lock{};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  TRY(check(::fcntl(file.get(), F_OFD_SETLK, &lock), {"fcntl(F_OFD_SETLK, ", path, ")"}));
  return file;
}

bool is_held(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return false;
  // Whether one for writing could be set is asked; none is.
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return ::fcntl(file.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace hutch::sys
