// Sockets of the Internet Protocol.
#include "sys/net/sockets.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "sys/call.h"

namespace hutch::sys {

namespace {

// linux/netfilter_ipv4.h and netfilter_ipv6/ip6_tables.h say it, and cannot be included beside netinet/in.h.
constexpr int kIp6OriginalDestination = 80;
constexpr int kOriginalDestination = 80;
constexpr int kBacklog = 4096;

struct Address {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

int family_number(IpFamily family) { return family == IpFamily::kV4 ? AF_INET : AF_INET6; }
Address network_address(const Endpoint& endpoint);
Endpoint endpoint_of(const Address& address);
std::string endpoint_text(const Endpoint& endpoint);
void set_option(int socket, int level, int name, int value) {
  (void)::setsockopt(socket, level, name, &value, sizeof value);
}

// In its place among the other data (RFC 6093 6). What is accepted takes it over from the listener.
void keep_urgent_data(int socket) { set_option(socket, SOL_SOCKET, SO_OOBINLINE, 1); }

}  // namespace

Result<UniqueFd> bind_socket(Transport transport, const Endpoint& at) {
  const bool tcp = transport == Transport::kTcp;
  const int type = (tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK;
  const int family = family_number(at.address.family);
  UniqueFd socket = TRY(check_fd(::socket(family, type, 0), {"socket(", tcp ? "TCP" : "UDP", ")"}));
  if (tcp) set_option(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (tcp) keep_urgent_data(socket.get());
  if (family == AF_INET6) set_option(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
  Address address = network_address(at);
  TRY(check(::bind(socket.get(), address.get(), address.size), {"bind(", endpoint_text(at), ")"}));
  if (tcp) TRY(check(::listen(socket.get(), kBacklog), {"listen(", endpoint_text(at), ")"}));
  return socket;
}

Result<std::string> bound_text(int socket) {
  Address address;
  TRY(check(::getsockname(socket, address.get(), &address.size), {"getsockname()"}));
  return endpoint_text(endpoint_of(address));
}

Result<UniqueFd> tcp_socket(IpFamily family) {
  const int type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
  UniqueFd socket = TRY(check_fd(::socket(family_number(family), type, 0), {"socket(TCP)"}));
  keep_urgent_data(socket.get());
  return socket;
}

Result<UniqueFd> tcp_socket_of_both() {
  auto socket = tcp_socket(IpFamily::kV6);
  if (!socket) return tcp_socket(IpFamily::kV4);
  const int no = 0;
  TRY(check(::setsockopt(socket->get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no), {"setsockopt(IPV6_V6ONLY)"}));
  return socket;
}

Result<UniqueFd> connected_datagrams(const Endpoint& to) {
  const int type = SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
  UniqueFd socket = TRY(check_fd(::socket(family_number(to.address.family), type, 0), {"socket(UDP)"}));
  Address address = network_address(to);
  TRY(check(::connect(socket.get(), address.get(), address.size), {"connect(", endpoint_text(to), ")"}));
  return socket;
}

Status begin_connect(int socket, const Endpoint& to) {
  Address address = network_address(to);
  const int answer = ::connect(socket, address.get(), address.size);
  if (answer < 0 && (errno == EINPROGRESS || errno == EINTR)) return {};
  return check(answer, {"connect(", endpoint_text(to), ")"});
}

Status begin_connect_of_both(int socket, const Endpoint& to) {
  int domain = 0;
  socklen_t size = sizeof domain;
  TRY(check(::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size), {"getsockopt(SO_DOMAIN)"}));
  if (domain != AF_INET6 || to.address.family != IpFamily::kV4) return begin_connect(socket, to);
  Endpoint mapped{.address = {.family = IpFamily::kV6, .bytes = {}}, .port = to.port};
  mapped.address.bytes[10] = mapped.address.bytes[11] = 0xff;
  std::copy_n(to.address.bytes.begin(), 4, mapped.address.bytes.begin() + 12);
  return begin_connect(socket, mapped);
}

Status dissolve_connect(int socket) {
  const sockaddr nobody{.sa_family = AF_UNSPEC, .sa_data = {}};
  return check(::connect(socket, &nobody, sizeof nobody), {"connect(AF_UNSPEC)"});
}

Status connect_result(int socket) {
  int error = 0;
  socklen_t size = sizeof error;
  TRY(check(::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size), {"getsockopt(SO_ERROR)"}));
  if (error != 0) return fail(Error::from_errno("connect()", error));
  return {};
}

Result<std::optional<Accepted>> accept_connection(int listener) {
  Address peer;
  const int fd = retry([&] { return ::accept4(listener, peer.get(), &peer.size, SOCK_CLOEXEC | SOCK_NONBLOCK); });
  // Errors of the connection itself are passed on as those of accept (accept(2), "Error handling").
  if (fd < 0 && (errno == EAGAIN || errno == ECONNABORTED || errno == EPROTO || errno == EPERM)) {
    return std::optional<Accepted>();
  }
  UniqueFd socket = TRY(check_fd(fd, {"accept4()"}));
  return std::optional(Accepted{std::move(socket), endpoint_of(peer)});
}

Result<Endpoint> original_destination(int socket, IpFamily family) {
  Address address;
  const bool v4 = family == IpFamily::kV4;
  TRY(check(::getsockopt(socket, v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? kOriginalDestination : kIp6OriginalDestination,
                         address.get(), &address.size),
            {"getsockopt(SO_ORIGINAL_DST)"}));
  return endpoint_of(address);
}

Result<std::optional<Datagram>> receive_datagram(int socket, std::span<char> into) {
  Address from;
  const ssize_t count = retry([&] { return ::recvfrom(socket, into.data(), into.size(), 0, from.get(), &from.size); });
  if (count < 0 && errno == EAGAIN) return std::optional<Datagram>();
  TRY(check(count, {"recvfrom()"}));
  return std::optional(Datagram{static_cast<std::size_t>(count), endpoint_of(from)});
}

Status send_datagram(int socket, std::string_view bytes, const Endpoint& to) {
  Address address = network_address(to);
  return check(::sendto(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL, address.get(), address.size), {"sendto()"});
}

Result<std::optional<std::size_t>> peek(int socket, std::span<char> into) {
  const ssize_t count = retry([&] { return ::recv(socket, into.data(), into.size(), MSG_PEEK | MSG_DONTWAIT); });
  if (count < 0 && errno == EAGAIN) return std::optional<std::size_t>();
  TRY(check(count, {"recv(MSG_PEEK)"}));
  return std::optional(static_cast<std::size_t>(count));
}

Status shut_down_writing(int socket) { return check(::shutdown(socket, SHUT_WR), {"shutdown(SHUT_WR)"}); }

void reset_on_close(int socket) {
  const linger none{1, 0};
  (void)::setsockopt(socket, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

void disable_nagle(int socket) { set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1); }

void set_receive_low_water(int socket, int bytes) { set_option(socket, SOL_SOCKET, SO_RCVLOWAT, bytes); }

namespace {

Address network_address(const Endpoint& endpoint) {
  Address address;
  if (endpoint.address.family == IpFamily::kV4) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(endpoint.port);
    std::memcpy(&v4.sin_addr, endpoint.address.bytes.data(), sizeof v4.sin_addr);
    std::memcpy(&address.storage, &v4, sizeof v4);
    address.size = sizeof v4;
    return address;
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(endpoint.port);
  std::memcpy(&v6.sin6_addr, endpoint.address.bytes.data(), sizeof v6.sin6_addr);
  std::memcpy(&address.storage, &v6, sizeof v6);
  address.size = sizeof v6;
  return address;
}

Endpoint endpoint_of(const Address& address) {
  Endpoint endpoint;
  if (address.storage.ss_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &address.storage, sizeof v6);
    endpoint.address.family = IpFamily::kV6;
    std::memcpy(endpoint.address.bytes.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
    endpoint.port = ntohs(v6.sin6_port);
    return endpoint;
  }
  sockaddr_in v4{};
  std::memcpy(&v4, &address.storage, sizeof v4);
  std::memcpy(endpoint.address.bytes.data(), &v4.sin_addr, sizeof v4.sin_addr);
  endpoint.port = ntohs(v4.sin_port);
  return endpoint;
}

std::string endpoint_text(const Endpoint& endpoint) {
  const bool v6 = endpoint.address.family == IpFamily::kV6;
  return cat({v6 ? "[" : "", to_string(endpoint.address), v6 ? "]:" : ":", std::to_string(endpoint.port)});
}

}  // namespace

}  // namespace hutch::sys
