// Unix sockets with a name, and the lock that one program holds.
#include "sys/local_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "sys/call.h"
#include "sys/io.h"

namespace hutch::sys {

namespace {

constexpr int kBacklog = 128;

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return fail(Error::invalid(cat({path, ": too long for a socket's name (107 bytes, unix(7))"})));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

Result<UniqueFd> local_socket() {
  return check_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), {"socket(AF_UNIX)"});
}

}  // namespace

Result<UniqueFd> listen_local(const std::string& path) {
  const sockaddr_un address = TRY(address_of(path));
  UniqueFd socket = TRY(local_socket());
  ::unlink(path.c_str());
  // The mode of the socket before it has a name: it is never open to others, not for a moment.
  TRY(check(::fchmod(socket.get(), 0600), {"fchmod(socket)"}));
  const auto* named = reinterpret_cast<const sockaddr*>(&address);
  TRY(check(::bind(socket.get(), named, sizeof(address)), {"bind(", path, ")"}));
  TRY(check(::chmod(path.c_str(), 0600), {"chmod(", path, ")"}));
  TRY(check(::listen(socket.get(), kBacklog), {"listen(", path, ")"}));
  return socket;
}

Result<UniqueFd> connect_local(const std::string& path) {
  const sockaddr_un address = TRY(address_of(path));
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

Result<std::optional<LocalConnection>> accept_local(int listener, std::optional<std::chrono::milliseconds> wait) {
  pollfd ready{listener, POLLIN, 0};
  if (TRY(poll({&ready, 1}, wait)) == 0) return std::optional<LocalConnection>();
  const int accepted = retry([&] { return ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC); });
  if (accepted < 0 && (errno == EAGAIN || errno == ECONNABORTED)) return std::optional<LocalConnection>();
  LocalConnection connection{TRY(check_fd(accepted, {"accept4()"})), {}};
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  TRY(check(::getsockopt(connection.socket.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size),
            {"getsockopt(SO_PEERCRED)"}));
  connection.peer = {credentials.pid, credentials.uid};
  return std::optional(std::move(connection));
}

void forget_local(const std::string& path) { ::unlink(path.c_str()); }

Status set_send_timeout(int socket, std::chrono::milliseconds timeout) {
  const timeval value{timeout.count() / 1000, (timeout.count() % 1000) * 1000};
  return check(::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &value, sizeof(value)), {"setsockopt(SO_SNDTIMEO)"});
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

}  // namespace hutch::sys
