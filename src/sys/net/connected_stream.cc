// Connects, and waits for it.
#include "sys/net/connected_stream.h"

#include <fcntl.h>
#include <poll.h>

#include "sys/call.h"
#include "sys/io.h"

namespace hutch::sys {

Result<UniqueFd> connected_stream(const Endpoint& to) {
  UniqueFd socket = TRY(tcp_socket(to.address.family));
  TRY(begin_connect(socket.get(), to));
  pollfd wait{socket.get(), POLLOUT, 0};
  TRY(poll({&wait, 1}, std::nullopt));
  TRY(connect_result(socket.get()));
  const int flags = ::fcntl(socket.get(), F_GETFL);
  TRY(check(flags, {"fcntl(F_GETFL)"}));
  TRY(check(::fcntl(socket.get(), F_SETFL, flags & ~O_NONBLOCK), {"fcntl(F_SETFL)"}));
  return socket;
}

}  // namespace hutch::sys
