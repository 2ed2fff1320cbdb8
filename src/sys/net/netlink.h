// Netlink: the addresses and routes of a network namespace, and the rules that redirect its connections.
// netlink(7), rtnetlink(7), linux/netfilter/nf_tables.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/ip_address.h"
#include "base/result.h"

namespace hutch::sys {

// Gives the loopback interface of this network namespace the address (a range of one) and a default route over it.
Status add_loopback_route(const IpAddress& own);

// What leaves this network namespace by its nftables, once add_redirect has been called: every TCP connection and
// every DNS query (UDP and TCP port 53) arrives at a port of the loopback, and so do the datagrams of `udp`;
// connections to the loopback itself and to `own` are left alone, and nothing else leaves at all.
struct Redirect {
  struct Udp {
    IpAddress address;
    std::uint16_t port = 0;
    std::uint16_t arrives_at = 0;
  };
  std::uint16_t tcp_port = 0;   // where connections arrive
  std::vector<IpAddress> own;   // the namespace's addresses besides its loopback
  std::vector<Udp> udp;
};

// One transaction: all of it or nothing. An error with EOPNOTSUPP, EPROTONOSUPPORT, EAFNOSUPPORT or ENOENT says that
// the kernel has no nftables, or not all that this needs.
Status add_redirect(const Redirect& redirect);

// In this network namespace nothing that these users' sockets send leaves, but TCP to those ports of the loopback: by a
// table of hutch's own, beside which all others stay as they are. One transaction; what it said before is gone.
// Of no users the table is removed.
Status deny_users(std::span<const std::uint32_t> users, std::span<const std::uint16_t> ports);

}  // namespace hutch::sys
