// The sandbox's network.
#include "guest/setup/network.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <utility>

#include "base/ip_address.h"
#include "base/text.h"
#include "guest/setup/enter.h"
#include "sys/files/identity.h"
#include "sys/net/netlink.h"
#include "sys/net/sockets.h"
#include "sys/process/process.h"

namespace hutch::guest {

namespace {

using sys::Transport;
using wire::SocketRole;

// The sandbox's own addresses, from which its connections leave: benchmarking range (RFC 2544) and a unique local one
// (RFC 4193). A loopback address as a source would be refused by the kernel for a destination that is not loopback.
const IpAddress kOwnV4 = IpAddress::v4(198, 19, 255, 254);
const IpAddress kOwnV6 = *parse_ip("fd68:7574:6368::1");

// Of `hutch-guest --network`.
constexpr int kOwnerFd = 3;
constexpr int kNetworkFd = 4;

enum class Families { kV4, kBoth };
Result<plan::SandboxPlan> read_words(const std::vector<std::string_view>& words);
Result<std::uint16_t> read_port(std::string_view word);
Result<std::uint64_t> read_count(std::string_view word);
Result<std::uint64_t> read_count(std::string_view word) {
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
  if (error != std::errc() || end != word.data() + word.size()) return fail(Error::invalid("not a count"));
  return count;
}

sys::Redirect redirect_of(const plan::SandboxPlan& plan);
Status wait_for_loopback();
Result<Families> add_addresses();
bool has_no_v6(const Error& error);
bool has_no_nftables(const Error& error);
Status add_sockets(MadeNetwork& network, Transport transport, SocketRole role, std::uint16_t port, Families families);

}  // namespace

Result<MadeNetwork> make_network(const plan::SandboxPlan& plan) {
  MadeNetwork network;
  TRY(sys::loopback_up());
  const Status redirected = sys::add_redirect(redirect_of(plan));
  if (!redirected && !has_no_nftables(redirected.error())) return fail(redirected.error());
  if (!redirected) network.message.no_capture = redirected.error().message;
  // Without redirection there is no route either: a program hears at once that it reaches nothing, instead of waiting.
  const Families families = redirected ? TRY(add_addresses()) : Families::kV4;
  if (redirected) TRY(add_sockets(network, Transport::kTcp, SocketRole::kCapture, plan::kCapturePort, families));
  TRY(add_sockets(network, Transport::kTcp, SocketRole::kProxy, plan::kProxyPort, families));
  // Never a wildcard: the answer would leave from another address than the query went to, and a connected client would
  // not take it.
  TRY(add_sockets(network, Transport::kUdp, SocketRole::kDnsUdp, plan::kDnsPort, families));
  TRY(add_sockets(network, Transport::kTcp, SocketRole::kDnsTcp, plan::kDnsPort, families));
  for (const std::uint16_t port : plan.host_ports) {
    TRY(add_sockets(network, Transport::kTcp, SocketRole::kHostPort, port, families));
  }
  if (!redirected) return network;
  for (const plan::UdpCapture& capture : plan.udp) {
    TRY(add_sockets(network, Transport::kUdp, SocketRole::kUdp, capture.gateway_port, families));
  }
  return network;
}

Status send_network(wire::Connection& host, MadeNetwork network) {
  std::vector<int> descriptors;
  for (const UniqueFd& socket : network.sockets) descriptors.push_back(socket.get());
  return host.send(wire::ToHost(std::move(network.message)), descriptors);
}

int serve_network(UniqueFd stream, const std::vector<std::string_view>& words) {
  wire::Connection host(std::move(stream));
  const auto serve = [&]() -> Status {
    TRY(sys::enter_namespace(sys::NamespaceKind::kUser, kOwnerFd));
    TRY(sys::enter_namespace(sys::NamespaceKind::kNetwork, kNetworkFd));
    const plan::SandboxPlan plan = TRY(read_words(words));
    // In an engine's container /proc/sys is read-only here as well.
    const Status limited = limit_user_counts(plan);
    if (!limited && limited.error().sys_errno != EROFS) return limited;
    TRY(wait_for_loopback());
    return send_network(host, TRY(make_network(plan)));
  };
  Status served = serve();
  if (served) return 0;
  (void)host.send(wire::ToHost(wire::Failed{std::move(served).error()}));
  return 125;
}

Result<MadeNetwork> make_dial_sockets(unsigned count) {
  MadeNetwork network;
  for (unsigned i = 0; i < count; ++i) {
    network.message.sockets.push_back({SocketRole::kDial, 0});
    network.sockets.push_back(TRY(sys::tcp_socket_of_both()));
  }
  return network;
}

namespace {

Result<plan::SandboxPlan> read_words(const std::vector<std::string_view>& words) {
  plan::SandboxPlan plan;
  for (const std::string_view word : words) {
    if (const std::size_t equals = word.find('='); equals != std::string_view::npos) {
      plan.user_counts.push_back({std::string(word.substr(0, equals)), TRY(read_count(word.substr(equals + 1)))});
      continue;
    }
    const std::vector<std::string_view> parts = split(word, ',');
    const std::uint16_t port = TRY(read_port(parts[0]));
    if (parts.size() == 1) {
      plan.host_ports.push_back(port);
      continue;
    }
    plan::UdpCapture& capture = plan.udp.emplace_back();
    capture.port = port;
    capture.gateway_port = TRY(read_port(parts[1]));
    for (std::size_t i = 2; i < parts.size(); ++i) {
      const auto address = parse_ip(parts[i]);
      if (!address) return fail(Error::invalid("not an address"));
      capture.addresses.push_back(*address);
    }
  }
  return plan;
}

Result<std::uint16_t> read_port(std::string_view word) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), port);
  if (error != std::errc() || end != word.data() + word.size()) return fail(Error::invalid("not a port"));
  return port;
}

sys::Redirect redirect_of(const plan::SandboxPlan& plan) {
  sys::Redirect redirect{.tcp_port = plan::kCapturePort, .own = {kOwnV4, kOwnV6}, .udp = {}};
  for (const plan::UdpCapture& capture : plan.udp) {
    for (const IpAddress& address : capture.addresses) {
      redirect.udp.push_back({.address = address, .port = capture.port, .arrives_at = capture.gateway_port});
    }
  }
  return redirect;
}

// bubblewrap gives the interface its address itself and fails when it has one already, as it has once it is up.
Status wait_for_loopback() {
  static constexpr std::chrono::seconds kWait{20};
  const auto deadline = std::chrono::steady_clock::now() + kWait;
  while (!TRY(sys::is_loopback_up())) {
    if (std::chrono::steady_clock::now() > deadline) {
      return fail(Error{Code::kTimeout, 0, "bwrap did not bring the loopback up"});
    }
    TRY(sys::pause_briefly());
  }
  return {};
}

Result<Families> add_addresses() {
  TRY(sys::add_loopback_route(kOwnV4));
  const Status v6 = sys::add_loopback_route(kOwnV6);
  if (v6) return Families::kBoth;
  if (!has_no_v6(v6.error())) return fail(v6.error());
  return Families::kV4;
}

// A kernel without IPv6, or one where it is switched off, has nothing that could leave by it.
bool has_no_v6(const Error& error) {
  return error.sys_errno == EAFNOSUPPORT || error.sys_errno == EOPNOTSUPP || error.sys_errno == EACCES ||
         error.sys_errno == EADDRNOTAVAIL || error.sys_errno == EPERM;
}

bool has_no_nftables(const Error& error) {
  return error.sys_errno == EOPNOTSUPP || error.sys_errno == EPROTONOSUPPORT || error.sys_errno == EAFNOSUPPORT ||
         error.sys_errno == ENOENT || error.sys_errno == EINVAL;
}

Status add_sockets(MadeNetwork& network, Transport transport, SocketRole role, std::uint16_t port, Families families) {
  const auto add = [&](const IpAddress& address) -> Status {
    network.sockets.push_back(TRY(sys::bind_socket(transport, {address, port})));
    network.message.sockets.push_back({role, port});
    return {};
  };
  TRY(add(IpAddress::v4(127, 0, 0, 1)));
  return families == Families::kBoth ? add(*parse_ip("::1")) : Status();
}

}  // namespace

}  // namespace hutch::guest
