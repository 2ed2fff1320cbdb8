// A connection by the Internet Protocol for a program that has nothing else to do. tcp(7).
#pragma once

#include "base/result.h"
#include "base/unique_fd.h"
#include "sys/net/sockets.h"

namespace hutch::sys {

// A TCP socket that is connected, and blocks.
Result<UniqueFd> connected_stream(const Endpoint& to);

}  // namespace hutch::sys
