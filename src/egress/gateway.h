// The egress gateway of one sandbox: everything that leaves it passes here.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "egress/core.h"
#include "egress/datagrams.h"
#include "egress/dns_server.h"
#include "egress/tunnel.h"
#include "policy/network/udp.h"
#include "wire/message.h"

namespace hutch::egress {

class Gateway {
 public:
  static Result<std::unique_ptr<Gateway>> make(Settings settings);
  Gateway(std::unique_ptr<Loop> loop, Settings settings);
  ~Gateway();

  // Serves sockets of the sandbox's network namespace from here on. The first call has the listeners; later ones bring
  // the kDial sockets that were wanted, and nothing else.
  Status attach(const wire::Network& network, std::vector<UniqueFd> sockets);
  // Listens on the host's loopback for the ports that the policy publishes.
  Status publish();
  // How many more kDial sockets are wanted now.
  unsigned wanted_dial_sockets();

  // What makes programs trust the authority that opens TLS; starts hutch-inspect.
  Result<wire::InspectReady> inspector_trust();

  // For poll(2): readable when `step` has something to do. Besides, it has to be called when time_left is over.
  int fd() { return core_.loop().fd(); }
  std::optional<std::chrono::milliseconds> time_left() { return core_.loop().time_left(); }
  Status step();

  // Ends what hutch itself has running for this sandbox: nothing of it needs a gateway any more.
  void close();

  std::vector<Event> take_events() { return core_.take_events(); }
  bool answer(std::uint64_t id, Core::Answer answer, std::optional<std::chrono::minutes> holds) {
    return core_.answer(id, answer, holds);
  }
  // Other rules from now on; connections that they do not allow are ended. An error, and nothing changed, where they
  // open what can be opened at the start alone.
  Status replace_rules(policy::Network network);
  // Of what the policy would change now, what can be changed: ports and UDP rules of the start can be closed and opened
  // again, others are left out.
  policy::Network changeable(policy::Network network) const;
  // Takes back what answers allowed: for that host, at every port where none is named. Its connections end.
  struct Revoked {
    std::size_t grants = 0;
    std::size_t connections = 0;
  };
  Revoked revoke(const std::string& target);
  void forget_saved_grants() { core_.forget_saved_grants(); }
  const policy::Network& network() const { return core_.network(); }
  void find_processes_by(Core::FindProcess find) { core_.find_processes_by(std::move(find)); }

 private:
  struct Listener {
    UniqueFd socket;
    wire::SocketRole role = wire::SocketRole::kCapture;
    policy::PublishedPort port{};  // kHostPort: the same twice
    Loop::Watch watch;
    Loop::Timer rest;
  };
  Status listen(UniqueFd socket, wire::SocketRole role, policy::PublishedPort port);
  void accept(Listener& listener);
  void let_rest(Listener& listener);
  Tunnel& add_tunnel(Door door, sys::Accepted accepted);
  void open_captured(sys::Accepted accepted);
  void open_port(const Listener& listener, sys::Accepted accepted);
  bool is_listed(wire::SocketRole role, const policy::PublishedPort& port) const;
  bool is_listening(wire::SocketRole role, const policy::PublishedPort& port) const;
  bool is_captured(const policy::UdpEntry& entry) const;
  Status check_ports(const policy::Network& network) const;
  Status check_udp(const policy::Network& network) const;
  Status serve_udp(UniqueFd socket, std::uint16_t gateway_port);

  Core core_;
  DnsServer dns_;
  Datagrams datagrams_;
  std::list<Listener> listeners_;
  std::vector<UniqueFd> dial_sockets_;
  unsigned dial_sockets_asked_ = 0;
  // Came while none of these was there; the next ones are theirs.
  std::deque<std::pair<const Listener*, sys::Accepted>> waiting_;
  bool attached_ = false;  // the listeners are there
  bool by_streams_ = false;  // kDial are a virtual machine's (wire/machine_dial.h)
  std::uint64_t last_tunnel_ = 0;
  std::size_t tunnels_max_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Tunnel>> tunnels_;
  std::vector<std::unique_ptr<Tunnel>> ended_;  // in the middle of a call, maybe
};

}  // namespace hutch::egress
