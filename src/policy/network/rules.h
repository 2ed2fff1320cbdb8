// Which hosts, addresses and requests a policy lets through, and by which rule.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip_address.h"
#include "policy/network/hosts.h"
#include "policy/network/udp.h"
#include "policy/policy.h"

namespace hutch::policy {

// kAsk: no rule knows it, and asking is not excluded (network "none", strictAllowlist). Without anybody to ask it is a
// denial.
enum class HostVerdict { kAllow, kDeny, kAsk };

struct HostDecision {
  HostVerdict verdict = HostVerdict::kDeny;
  std::string rule;  // `network.allowedDomains "*.example.com"`, "default"
  std::string why;   // a clause; of a denied domain the reason that the policy gives
};

// By name and port alone, before anything is resolved.
HostDecision decide_host(const Network& network, const Host& host, int port);

// As decide_host, of a DNS query, where the port is not known yet: allowed when any port could be, by UDP as well.
HostDecision decide_name(const Network& network, const Host& host);

struct AddressDecision {
  bool allowed = false;
  std::string why;
};

// The source of a name's address. The host's own hosts(5) file is its administrator's word; anybody can run a DNS.
enum class AddressSource { kDns, kHostsFile };

// Whether hutch may dial `resolved`, an address of the allowed host `asked`. Loopback, private, link-local, multicast,
// metadata and the host's own addresses (`own`) are refused, also inside of an IPv6 address, unless an entry of
// allowedDomains names the address or a range around it. deniedResolvedAddresses and deniedDomains always refuse. A
// private address from the hosts file needs no other entry than the one that names the host without a star.
AddressDecision decide_address(const Network& network, const Host& asked, const IpAddress& resolved, int port,
                               std::span<const IpAddress> own, AddressSource source = AddressSource::kDns);

// As decide_address, of an address that a person was asked about as such and allowed: what it is refuses it no longer,
// deniedResolvedAddresses and deniedDomains do.
AddressDecision decide_answered(const Network& network, const IpAddress& answered, int port);

// As decide_host and decide_address, of UDP. Never a question: a datagram waits for nobody. The address that an entry
// itself names needs no other entry.
HostDecision decide_udp(const Network& network, const UdpEntry& asked);
AddressDecision decide_udp_address(const Network& network, const UdpEntry& asked, const IpAddress& resolved,
                                   std::span<const IpAddress> own, AddressSource source = AddressSource::kDns);

// The rules about requests to this host, in order. Not empty: its requests have to be read, and TLS opened for that.
std::vector<HttpRule> http_rules_for(const Network& network, const Host& host, int port);

struct RequestDecision {
  bool allowed = false;
  const HttpRule* rule = nullptr;  // which allows it
};

// `target` is the path with its query, as the request line has it.
RequestDecision decide_request(std::span<const HttpRule> rules, std::string_view method, std::string_view target);

// The target as every server reads it: unreserved characters decoded, dot segments resolved. Absent where servers may
// disagree ("%2f", "%2e%2e", "\\", "//", double encoding, control bytes); only a rule without paths allows those. What
// is forwarded by a rule with paths is this form, so that the rule and the server cannot mean different things.
std::optional<std::string> normal_target(std::string_view target);

}  // namespace hutch::policy
