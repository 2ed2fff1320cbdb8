// The egress gateway of one sandbox.
#include "egress/gateway.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "plan/make/bridge_place.h"
#include "plan/make/gateway_names.h"
#include "sys/net/foreign_socket.h"

namespace hutch::egress {

namespace {

// At once; what comes beyond is reset.
constexpr std::size_t kTunnelsMax = 4096;
constexpr std::size_t kTunnelsMin = 16;
// Each tunnel has two sockets and up to two pipes. The daemon has a gateway for each of its sandboxes, and each gateway
// gets a quarter of all descriptors.
constexpr std::size_t kDescriptorsEach = std::size_t{6} * 4;
constexpr int kAcceptsAtOnce = 64;
constexpr unsigned kSpareDialSockets = 4;
// Connections to published ports for which a socket of the sandbox's is on its way.
constexpr std::size_t kWaitingMax = 64;
// Of a virtual machine's: each is a channel of its relay's, of which there may be twice as many
// (guest/machine/relay.cc).
constexpr std::ptrdiff_t kMachineDialsMax = 128;
constexpr std::chrono::milliseconds kRest{100};

const IpAddress kLoopbackV4 = IpAddress::v4(127, 0, 0, 1);

bool is_stream_of_machine(int socket) {
  const auto family = sys::family_of_socket(socket);
  return family && *family == sys::SocketFamily::kUnix;
}

bool is_loopback(const IpAddress& address) {
  return address == *parse_ip("::1") || (address.family == IpFamily::kV4 && address.bytes[0] == 127);
}

}  // namespace

Result<std::unique_ptr<Gateway>> Gateway::make(Settings settings) {
  auto loop = TRY(Loop::make());
  return std::make_unique<Gateway>(std::move(loop), std::move(settings));
}

Gateway::Gateway(std::unique_ptr<Loop> loop, Settings settings)
    : core_(std::move(loop), std::move(settings)),
      dns_(core_),
      datagrams_(core_),
      tunnels_max_(std::clamp(sys::raise_descriptor_limit() / kDescriptorsEach, kTunnelsMin, kTunnelsMax)) {
  for (const plan::UdpCapture& capture : core_.settings().udp) {
    if (plan::is_name_address(capture.addresses.front()) && !parse_ip(capture.host)) {
      core_.names().keep(capture.host, capture.addresses.front());
    }
  }
}

Gateway::~Gateway() = default;

Status Gateway::attach(const wire::Network& network, std::vector<UniqueFd> sockets) {
  if (network.sockets.size() != sockets.size()) return fail(Error::invalid("hutch-guest: sockets are missing"));
  unsigned proxies = 0;
  const bool is_first = !std::exchange(attached_, true);
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    const auto [role, port] = network.sockets[i];
    if (!is_first && (role != wire::SocketRole::kDial || dial_sockets_asked_ == 0)) {
      return fail(Error::invalid("hutch-guest: a socket that nobody asked for"));
    }
    switch (role) {
      case wire::SocketRole::kDnsUdp: TRY(dns_.serve_udp(std::move(sockets[i]))); break;
      case wire::SocketRole::kDnsTcp: TRY(dns_.serve_tcp(std::move(sockets[i]))); break;
      case wire::SocketRole::kDial:
        by_streams_ = by_streams_ || is_stream_of_machine(sockets[i].get());
        dial_sockets_.push_back(std::move(sockets[i]));
        if (dial_sockets_asked_ > 0) --dial_sockets_asked_;
        break;
      case wire::SocketRole::kUdp: TRY(serve_udp(std::move(sockets[i]), port)); break;
      case wire::SocketRole::kProxy: ++proxies; [[fallthrough]];
      case wire::SocketRole::kCapture:
      case wire::SocketRole::kHostPort: TRY(listen(std::move(sockets[i]), role, {port, port})); break;
    }
  }
  while (!waiting_.empty() && !dial_sockets_.empty()) {
    auto [listener, accepted] = std::move(waiting_.front());
    waiting_.pop_front();
    open_port(*listener, std::move(accepted));
  }
  // One of each kind of address.
  if (proxies > 1) dns_.use_v6();
  return {};
}

Status Gateway::serve_udp(UniqueFd socket, std::uint16_t gateway_port) {
  const auto& captures = core_.settings().udp;
  const auto found = std::ranges::find(captures, gateway_port, &plan::UdpCapture::gateway_port);
  if (found == captures.end()) return fail(Error::invalid("hutch-guest: a socket of no UDP rule"));
  return datagrams_.serve(std::move(socket),
                          {policy::Host{found->host, parse_ip(found->host)}, found->port, sys::Transport::kUdp});
}

Status Gateway::publish() {
  for (const policy::PublishedPort& port : core_.network().publish) {
    auto socket = sys::bind_socket(sys::Transport::kTcp, {kLoopbackV4, static_cast<std::uint16_t>(port.host)});
    if (!socket) {
      return fail(std::move(socket).error().with_context(
          cat({"publish ", std::to_string(port.host), ":", std::to_string(port.sandbox)})));
    }
    TRY(listen(std::move(*socket), wire::SocketRole::kDial, port));
  }
  return {};
}

unsigned Gateway::wanted_dial_sockets() {
  if (core_.network().publish.empty()) return 0;
  const auto have = static_cast<unsigned>(dial_sockets_.size()) + dial_sockets_asked_;
  const unsigned wanted = kSpareDialSockets + std::min(kSpareDialSockets, static_cast<unsigned>(waiting_.size()));
  if (have >= wanted) return 0;
  const auto is_published = [](const auto& one) { return one.second->door() == Door::kPublished; };
  if (by_streams_ && std::ranges::count_if(tunnels_, is_published) >= kMachineDialsMax) return 0;
  dial_sockets_asked_ += wanted - have;
  return wanted - have;
}

Result<wire::InspectReady> Gateway::inspector_trust() {
  TRY(core_.start_inspector());
  return core_.inspector_trust();
}

void Gateway::close() {
  datagrams_.close();
  core_.inspector().stop();
}

Status Gateway::step() {
  const Status stepped = core_.loop().step();
  ended_.clear();
  return stepped;
}

Status Gateway::replace_rules(policy::Network network) {
  TRY(check_ports(network));
  TRY(check_udp(network));
  core_.replace_network(std::move(network));
  std::vector<Tunnel*> tunnels;
  for (const auto& [id, tunnel] : tunnels_) tunnels.push_back(tunnel.get());
  for (Tunnel* tunnel : tunnels) tunnel->judge_again();
  datagrams_.judge_again();
  ended_.clear();
  return {};
}

policy::Network Gateway::changeable(policy::Network network) const {
  std::erase_if(network.host_ports, [&](int port) { return !is_listening(wire::SocketRole::kHostPort, {port, port}); });
  std::erase_if(network.publish, [&](const auto& port) { return !is_listening(wire::SocketRole::kDial, port); });
  std::erase_if(network.allowed_udp, [&](const std::string& text) {
    const auto entry = policy::parse_udp(text);
    return !entry || !is_captured(*entry);
  });
  return network;
}

Gateway::Revoked Gateway::revoke(const std::string& target) {
  Revoked revoked{.grants = core_.revoke(target)};
  std::vector<Tunnel*> tunnels;
  for (const auto& [id, tunnel] : tunnels_) tunnels.push_back(tunnel.get());
  for (Tunnel* tunnel : tunnels) revoked.connections += tunnel->take_back(target) ? 1 : 0;
  ended_.clear();
  return revoked;
}

bool Gateway::is_captured(const policy::UdpEntry& entry) const {
  return std::ranges::any_of(core_.settings().udp, [&](const plan::UdpCapture& capture) {
    return capture.host == entry.host.name && capture.port == entry.port;
  });
}

bool Gateway::is_listening(wire::SocketRole role, const policy::PublishedPort& port) const {
  return std::ranges::any_of(listeners_, [&](const Listener& one) { return one.role == role && one.port == port; });
}

Status Gateway::check_udp(const policy::Network& network) const {
  for (const std::string& text : network.allowed_udp) {
    const auto entry = TRY(policy::parse_udp(text));
    if (is_captured(entry)) continue;
    return fail(Error::invalid(cat(
        {"network.allowedUdp \"", printable(text, 64), "\": can be closed but not opened while the sandbox runs"})));
  }
  return {};
}

// A port that was closed goes on being listened at, so that it can be opened again.
Status Gateway::check_ports(const policy::Network& network) const {
  const auto check = [&](std::string_view key, wire::SocketRole role, const policy::PublishedPort& port) -> Status {
    if (is_listening(role, port)) return {};
    return fail(Error::invalid(
        cat({key, " ", std::to_string(port.host), ": can be closed but not opened while the sandbox runs"})));
  };
  for (const int port : network.host_ports) {
    TRY(check("network.hostPorts", wire::SocketRole::kHostPort, {port, port}));
  }
  for (const policy::PublishedPort& port : network.publish) {
    TRY(check("network.publish", wire::SocketRole::kDial, port));
  }
  return {};
}

bool Gateway::is_listed(wire::SocketRole role, const policy::PublishedPort& port) const {
  const policy::Network& network = core_.network();
  const auto has = [](const auto& list, const auto& one) { return std::ranges::find(list, one) != list.end(); };
  return role == wire::SocketRole::kDial ? has(network.publish, port) : has(network.host_ports, port.host);
}

Status Gateway::listen(UniqueFd socket, wire::SocketRole role, policy::PublishedPort port) {
  Listener& listener = listeners_.emplace_back();
  listener.socket = std::move(socket);
  listener.role = role;
  listener.port = port;
  listener.watch = TRY(core_.loop().watch(listener.socket.get(), {.read = true, .write = false},
                                          [this, &listener](const sys::Readiness&) { accept(listener); }));
  return {};
}

void Gateway::accept(Listener& listener) {
  for (int i = 0; i < kAcceptsAtOnce; ++i) {
    auto accepted = sys::accept_connection(listener.socket.get());
    if (!accepted) return let_rest(listener);
    if (!*accepted) return;
    if (tunnels_.size() >= tunnels_max_) {
      sys::reset_on_close((*accepted)->socket.get());
      continue;
    }
    switch (listener.role) {
      case wire::SocketRole::kUdp:
      case wire::SocketRole::kCapture: open_captured(std::move(**accepted)); break;
      case wire::SocketRole::kProxy: add_tunnel(Door::kProxy, std::move(**accepted)).read_request(); break;
      case wire::SocketRole::kHostPort:
      case wire::SocketRole::kDial: open_port(listener, std::move(**accepted)); break;
      case wire::SocketRole::kDnsUdp:
      case wire::SocketRole::kDnsTcp: break;
    }
  }
}

// There is no descriptor for it, most likely, and the loop would say at once that it still waits.
void Gateway::let_rest(Listener& listener) {
  listener.watch.set({});
  listener.rest = core_.loop().after(kRest, [&listener] { listener.watch.set({.read = true, .write = false}); });
}

Tunnel& Gateway::add_tunnel(Door door, sys::Accepted accepted) {
  const std::uint64_t id = ++last_tunnel_;
  auto tunnel = std::make_unique<Tunnel>(core_, id, door, std::move(accepted.socket), accepted.peer, [this, id] {
    auto ended = tunnels_.extract(id);
    if (!ended.empty()) ended_.push_back(std::move(ended.mapped()));
  });
  return *tunnels_.emplace(id, std::move(tunnel)).first->second;
}

void Gateway::open_captured(sys::Accepted accepted) {
  const auto meant = sys::original_destination(accepted.socket.get(), accepted.peer.address.family);
  // A connection to the port itself was redirected from nowhere, and an address of ours without a name leads nowhere.
  const bool direct = meant && is_loopback(meant->address);
  const auto name = meant ? core_.names().name_of(meant->address) : std::nullopt;
  if (!meant || direct || (!name && plan::is_name_address(meant->address))) {
    sys::reset_on_close(accepted.socket.get());
    return;
  }
  const policy::Host host =
      name ? policy::Host{*name, std::nullopt} : policy::Host{to_string(meant->address), meant->address};
  add_tunnel(Door::kCapture, std::move(accepted)).open({host, meant->port});
}

void Gateway::open_port(const Listener& listener, sys::Accepted accepted) {
  const bool published = listener.role == wire::SocketRole::kDial;
  const auto& bridge = core_.settings().bridge;
  if (!published && bridge && listener.port.sandbox == plan::kBridgePort) return bridge(std::move(accepted.socket));
  const bool waits = published && dial_sockets_.empty();
  if (!is_listed(listener.role, listener.port) || (waits && waiting_.size() >= kWaitingMax)) {
    sys::reset_on_close(accepted.socket.get());
    return;
  }
  if (waits) return void(waiting_.emplace_back(&listener, std::move(accepted)));
  const auto port = static_cast<std::uint16_t>(listener.port.sandbox);
  Opening opening{.target = {policy::Host{"localhost", std::nullopt}, port},
                  .endpoints = {{*parse_ip("::1"), port}, {kLoopbackV4, port}},
                  .socket = {},
                  .is_listed = [this, &listener] { return is_listed(listener.role, listener.port); }};
  // The sandbox's one socket dials both endpoints. After a connection to a mapped address it stays an IPv4 socket
  // (net/ipv6/tcp_ipv6.c, tcp_v6_connect), so IPv6 comes first.
  if (!published) std::ranges::reverse(opening.endpoints);
  if (published) {
    opening.socket = std::move(dial_sockets_.back());
    dial_sockets_.pop_back();
  }
  add_tunnel(published ? Door::kPublished : Door::kHostPort, std::move(accepted)).open_at(std::move(opening));
}

}  // namespace hutch::egress
