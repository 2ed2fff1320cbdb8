// Entries that name hosts in a policy: what an entry may look like, and which hosts it matches.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ip_address.h"
#include "base/result.h"
#include "policy/network/hosts.h"

namespace hutch::policy {

// Where an entry stands: a deny list may name everything ("*") and whole top-level domains, an allow list may not.
enum class DomainList { kAllowed, kDenied };

// One entry, taken apart and in canonical form.
struct HostPattern {
  enum class Kind {
    kEverything,  // "*"
    kBelow,       // "*.example.com": not example.com itself, and never an address
    kName,        // "example.com", "localhost"
    kRange,       // addresses: "127.0.0.1", "[::1]", "10.0.0.0/8"
  };
  Kind kind = Kind::kName;
  std::string name{};  // kBelow without "*.", kName
  IpRange range{};     // kRange
  std::optional<int> port{};

  // Host and port; the port of a pattern that has none is any.
  bool matches(const Host& host, int port) const;
  // The host alone, whatever its port.
  bool matches_host(const Host& host) const;
  // kRange alone, and by the IPv4 address in an IPv6 one as well.
  bool holds(const IpAddress& address) const;
};

// "example.com", "*.example.com" (at least two labels after the star), "localhost", "127.0.0.1", "[::1]",
// "10.0.0.0/8", "[fd00::]/8", "fd00::/8"; with ":port". Names may be international, addresses in any form that
// canonical_host takes.
Result<HostPattern> parse_domain(std::string_view entry, DomainList list);

// The same, when only the complaint is wanted.
Status check_domain(std::string_view entry, DomainList list);

// Whether `entry` matches the host and port. An entry that is none matches nothing.
bool matches_domain(std::string_view entry, const Host& host, int port);
bool matches_domain(std::string_view entry, std::string_view host, int port);

// An address or a range, with or without brackets around IPv6; a range of mapped addresses is one of IPv4.
Result<IpRange> parse_address_range(std::string_view text);

// By the IPv4 address in an IPv6 one as well.
bool range_holds(const IpRange& range, const IpAddress& address);

}  // namespace hutch::policy
