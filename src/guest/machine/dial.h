// Connections of the host's to ports of the machine's loopback (network.publish).
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/unique_fd.h"
#include "guest/setup/network.h"

namespace hutch::guest {

// Streams that a process of their own waits at for what wire/machine_dial.h says.
Result<MadeNetwork> make_dial_streams(unsigned count);

// At the loopback, where a server may listen on IPv6 or IPv4.
Result<UniqueFd> connect_to_port(std::uint16_t port);

// Serves one until both directions have ended, or one side has gone. What a side does not take waits here, 64 KiB of
// each direction, and the other side with it.
Status serve_dial(UniqueFd stream);

}  // namespace hutch::guest
