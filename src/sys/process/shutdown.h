// Ends a connection, or one direction of it. shutdown(2).
#pragma once

#include "base/result.h"

namespace hutch::sys {

enum class Direction {
  kWriting,  // the peer reads an end
  kBoth,     // and whoever waits for the socket here is woken; the descriptor stays open
};
Status shut_down(int socket, Direction direction);

}  // namespace hutch::sys
