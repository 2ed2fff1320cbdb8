// Sockets of the Internet Protocol. socket(7), ip(7), ipv6(7), tcp(7), udp(7).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/ip_address.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::sys {

// An address and a port.
struct Endpoint {
  IpAddress address;
  std::uint16_t port = 0;
  bool operator==(const Endpoint&) const = default;
};

enum class Transport { kTcp, kUdp };

// A socket bound to the endpoint, not blocking; of TCP it listens. A port of 0 is the kernel's choice.
Result<UniqueFd> bind_socket(Transport transport, const Endpoint& at);

// Where it is bound, "127.0.0.1:8080" or "[::1]:8080" (getsockname(2)).
Result<std::string> bound_text(int socket);

// A TCP socket that is not connected, not blocking.
Result<UniqueFd> tcp_socket(IpFamily family);

// An unconnected, non-blocking TCP socket for both families; only for IPv4 if the kernel has no IPv6.
Result<UniqueFd> tcp_socket_of_both();

// Begins to connect; whether it succeeds is told by `connect_result` once the socket is writable.
Status begin_connect(int socket, const Endpoint& to);
Status connect_result(int socket);

// As begin_connect(), on a socket of tcp_socket_of_both(): it reaches an IPv4 endpoint by its mapped address (ipv6(7)).
Status begin_connect_of_both(int socket, const Endpoint& to);

// After a failed attempt, makes the socket connectable again (connect(2), AF_UNSPEC); to IPv6 only if it was not
// connected to a mapped address before.
Status dissolve_connect(int socket);

// A UDP socket, not blocking, that sends to the endpoint and receives from it alone.
Result<UniqueFd> connected_datagrams(const Endpoint& to);

struct Accepted {
  UniqueFd socket;  // not blocking
  Endpoint peer;
};
// The next connection, absent when there is none now (or it has gone again).
Result<std::optional<Accepted>> accept_connection(int listener);

// Where a redirected connection was meant to go (SO_ORIGINAL_DST); of one that was not redirected, where it went.
Result<Endpoint> original_destination(int socket, IpFamily family);

struct Datagram {
  std::size_t size = 0;
  Endpoint from;
};
// Absent when there is none now. What does not fit is cut off.
Result<std::optional<Datagram>> receive_datagram(int socket, std::span<char> into);
Status send_datagram(int socket, std::string_view bytes, const Endpoint& to);
inline constexpr std::size_t kDatagramBytesMax = 65'535;

// What waits to be read, which it goes on doing. Absent when nothing waits; 0 at the end of the stream.
Result<std::optional<std::size_t>> peek(int socket, std::span<char> into);

// Tells the other side that nothing more will come.
Status shut_down_writing(int socket);
// Closing will reset the connection instead of ending it.
void reset_on_close(int socket);
void disable_nagle(int socket);
// Small amounts are told of only when `bytes` have come, 1 for any (SO_RCVLOWAT).
void set_receive_low_water(int socket, int bytes);

}  // namespace hutch::sys
