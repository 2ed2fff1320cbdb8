// The sandbox's network: where its connections go, and the sockets through which hutch takes them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "plan/plan.h"
#include "wire/connection.h"
#include "wire/message.h"

namespace hutch::guest {

struct MadeNetwork {
  wire::Network message;
  std::vector<UniqueFd> sockets;  // those of the message, in order
};

// Sets up the network namespace that this process is in: loopback, addresses, default routes, the redirection of
// connections, DNS queries and the UDP of rules, and the gateway's sockets. Needs CAP_NET_ADMIN there.
Result<MadeNetwork> make_network(const plan::SandboxPlan& plan);

// Sockets that can be connected to this network namespace's loopback.
Result<MadeNetwork> make_dial_sockets(unsigned count);

// Passes them to hutch, and keeps none: whoever in the sandbox had one could take others' connections.
Status send_network(wire::Connection& host, MadeNetwork network);

// The life of `hutch-guest --network PORT... UDP...`: makes the network of a sandbox from outside, for bubblewrap. PORT
// is one of the host's; UDP is a rule's port, the gateway's, and the addresses, with commas. Descriptor 0 is the stream
// to hutch, 3 the user namespace that owns the network namespace of descriptor 4.
int serve_network(UniqueFd stream, const std::vector<std::string_view>& words);

}  // namespace hutch::guest
