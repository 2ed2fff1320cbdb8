// Ends a connection, or one direction of it. shutdown(2).
#include "sys/process/shutdown.h"

#include <sys/socket.h>

#include "sys/call.h"

namespace hutch::sys {

Status shut_down(int socket, Direction direction) {
  const int answer = ::shutdown(socket, direction == Direction::kBoth ? SHUT_RDWR : SHUT_WR);
  if (answer < 0 && errno == ENOTCONN) return {};  // its peer has reset it already
  return check(answer, {"shutdown()"});
}

}  // namespace hutch::sys
