// What the guest tells of the network that it made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hutch::wire {

// What a socket of the sandbox's network namespace is for.
enum class SocketRole {
  kCapture,  // accepts the connections of the sandbox, whatever they were made to (SO_ORIGINAL_DST)
  kProxy,  // accepts connections to the HTTP and SOCKS proxy
  kDnsUdp,  // receives DNS queries
  kDnsTcp,  // accepts DNS connections
  kHostPort,  // accepts connections to a port of the host's loopback
  kUdp,  // receives the datagrams of a UDP rule, which the port tells
  kDial,  // not connected: reaches a port of the sandbox's loopback
};
struct NetworkSocket {
  SocketRole role = SocketRole::kCapture;
  std::uint16_t port = 0;
};
// The network is made. Its sockets travel along, in order.
struct Network {
  std::vector<NetworkSocket> sockets;
  std::string no_capture;  // why connections are not captured, so that the proxy is the only way; empty: they are
};

}  // namespace hutch::wire
