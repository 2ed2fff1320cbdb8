// Calls about sockets that one process makes for another. connect(2), bind(2), unix(7).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::sys {

// As long as it lives, a call that waits fails with EINTR after some milliseconds, and a close(2) ends. The sockets are
// other processes' too, which can have each call wait: by clearing O_NONBLOCK just before it, or with SO_LINGER where
// theirs was the last descriptor but this process's. By SIGALRM, of a process that has one thread and no timer.
class NoLongWait {
 public:
  NoLongWait();
  ~NoLongWait();
  NoLongWait(const NoLongWait&) = delete;
  NoLongWait& operator=(const NoLongWait&) = delete;
};

enum class SocketFamily { kUnix, kOther };
Result<SocketFamily> family_of_socket(int socket);

// An address as a caller gave it: a sockaddr and what follows, at most kSocketAddressMax bytes.
inline constexpr std::size_t kSocketAddressMax = 128;  // sizeof(sockaddr_storage)
// The path in an address of the family AF_UNIX; empty where there is none: of another family, abstract, or unnamed.
std::string path_in_address(std::string_view address);

// Whether a call on it would wait.
enum class Blocking { kYes, kNo };
Result<Blocking> blocking_of(int socket);
// How long it would (SO_SNDTIMEO, socket(7)); 0: for ever.
std::chrono::milliseconds send_timeout_of(int socket);

// Whatever its own mode is: EINPROGRESS, EALREADY or EAGAIN where it would have waited, or did.
Status connect_now(int socket, std::string_view address);
// To the socket's file that `file` (O_PATH) is open on. `proc` has to be this process's current directory.
Status connect_to_file(int socket, int file);
Status bind_to(int socket, std::string_view address);
// To `name` in the current directory.
Status bind_here(int socket, const std::string& name);

// The file that a Unix socket was bound to, as O_PATH (SIOCUNIXFILE; CAP_NET_ADMIN over its network namespace).
Result<UniqueFd> bound_file(int socket);

// Whether a socket listens at that file, or is of another kind than `like`. `file` is O_PATH; the current directory as
// above.
Result<bool> is_anybody_at(int file, int like);

// A file for as long as it is there, or is held open. A number is used again by some file systems, at once even; the
// moment of birth (statx(2), stx_btime) differs where some milliseconds have passed.
struct SocketIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t made_ns = 0;  // 0 where the file system has none
  auto operator<=>(const SocketIdentity&) const = default;
};
struct SocketFile {
  SocketIdentity identity;
  bool is_socket = false;
};
Result<SocketFile> look_at_socket(int file);

}  // namespace hutch::sys
