// Unix sockets with a name: listening, connecting, who the other side is; and the lock that one program holds. unix(7),
// flock(2).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::sys {

// Mode 0600, whatever the umask. A socket that is there already is replaced: whoever calls holds the lock beside it.
Result<UniqueFd> listen_local(const std::string& path);

// Code::kNotFound where nobody listens there.
Result<UniqueFd> connect_local(const std::string& path);

// The same for a name in a directory that is open, whose own path may be of any length; neither waits. Whoever finds
// the name can connect: it gets it once it listens.
Result<UniqueFd> listen_beneath(int directory, const std::string& name);
Result<UniqueFd> connect_beneath(int directory, const std::string& name);
void forget_beneath(int directory, const std::string& name);

struct Peer {
  pid_t pid = 0;
  std::uint32_t uid = 0;
};
struct LocalConnection {
  UniqueFd socket;
  Peer peer;
};
Result<Peer> peer_of(int socket);
// Waits for one; absent when none has come by then, or it went again.
Result<std::optional<LocalConnection>> accept_local(int listener, std::optional<std::chrono::milliseconds> wait);

// Its name goes; whoever is connected stays so.
void forget_local(const std::string& path);

// A send that the other side does not take for so long fails with EAGAIN (SO_SNDTIMEO, socket(7)).
Status set_send_timeout(int socket, std::chrono::milliseconds timeout);
// The same of a receive that nothing comes for (SO_RCVTIMEO).
Status set_receive_timeout(int socket, std::chrono::milliseconds timeout);

// Of what was sent on it: how much of the kernel's memory it takes until the other side has read it (SIOCOUTQ).
Result<int> unread_by_peer(int socket);

// Ends them: whoever waits on it in another thread is woken (shutdown(2)).
enum class ShutDown { kReading, kBoth };
void shut_down(int socket, ShutDown what = ShutDown::kBoth);

// Bytes that wait, without taking them (MSG_PEEK); fewer than asked for at the end of the stream alone.
Result<std::string> peek(int socket, std::size_t bytes);

// The file, held exclusively until the descriptor is closed; absent while another process holds it.
Result<std::optional<UniqueFd>> try_lock_file(const std::string& path);
// A descriptor that whoever started this process has left it, with the lock on that file: this process's from now on.
// Absent, and nothing is done, where it is another file, or none.
Result<std::optional<UniqueFd>> inherited_lock(int descriptor, const std::string& path);
// Who took it, as far as this can be seen from here (proc_locks(5)).
std::optional<pid_t> lock_holder(const std::string& path);

// A file, made where it is not there, that this process is known to use until the descriptor is closed; any number of
// processes may (F_OFD_SETLK, fcntl(2)).
Result<UniqueFd> hold_file(const std::string& path);
// Whether some process does.
bool is_held(const std::string& path);

}  // namespace hutch::sys
