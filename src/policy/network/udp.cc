// Entries that let UDP out.
#include "policy/network/udp.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "policy/network/address_kinds.h"
#include "policy/network/rules.h"

namespace hutch::policy {

namespace {

constexpr int kDnsPort = 53;

std::string_view own_kind(const Host& host);

}  // namespace

Result<UdpEntry> parse_udp(std::string_view entry) {
  const auto wrong = [&](std::string_view reason) {
    return fail(Error::invalid(cat({"\"", printable(entry, 64), "\" ", reason})));
  };
  static constexpr std::string_view kForm = "a UDP rule names one host or address and one port, HOST:PORT";
  if (entry.contains('*')) return wrong(cat({"has a star; ", kForm}));
  if (entry.contains('/')) return wrong(cat({"is a range; ", kForm}));
  const auto parsed = parse_host_port(entry);
  if (!parsed) return fail(parsed.error());
  if (!parsed->port) return wrong(cat({"has no port; ", kForm}));
  if (*parsed->port == kDnsPort) return wrong("is a DNS server: all names are answered by the gateway itself");
  const std::string_view own = own_kind(parsed->host);
  if (!own.empty()) return wrong(cat({"cannot be let out: it is ", own}));
  return UdpEntry{parsed->host, *parsed->port};
}

Status check_udp(const Network& network) {
  std::vector<UdpEntry> seen;
  for (const std::string& text : network.allowed_udp) {
    const UdpEntry entry = TRY(parse_udp(text));
    const auto wrong = [&](std::string_view reason) {
      return fail(Error::invalid(cat({"UDP to \"", printable(text, 64), "\" ", reason})));
    };
    if (std::ranges::find(seen, entry) != seen.end()) return wrong("is named twice");
    seen.push_back(entry);
    // QUIC would carry the requests past whoever reads them.
    if (http_rules_for(network, entry.host, entry.port).empty()) continue;
    return wrong("cannot hold: network.rules is about requests of this host, and in UDP nobody reads them");
  }
  if (network.host_ports.size() + network.allowed_udp.size() <= kOpeningsMax) return {};
  return fail(Error::invalid(cat({"more than ", std::to_string(kOpeningsMax), " host ports and UDP rules"})));
}

namespace {

// What a datagram to it would not leave the sandbox for; empty where it would.
std::string_view own_kind(const Host& host) {
  if (host.name == "localhost" || host.name.ends_with(".localhost")) return "the sandbox's own loopback";
  if (!host.address) return {};
  if (is_loopback(*host.address)) return "the sandbox's own loopback";
  static const IpRange kMulticast[] = {*parse_ip_range("224.0.0.0/4"), *parse_ip_range("ff00::/8"),
                                       *parse_ip_range("255.255.255.255"), *parse_ip_range("0.0.0.0/8"),
                                       *parse_ip_range("::")};
  const bool nobody =
      std::ranges::any_of(kMulticast, [&](const IpRange& range) { return range.contains(*host.address); });
  return nobody ? special_kind(*host.address) : std::string_view();
}

}  // namespace

}  // namespace hutch::policy
