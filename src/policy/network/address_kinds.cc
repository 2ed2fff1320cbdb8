// The table of special addresses: the registries of RFC 6890, and the metadata services that clouds have.
#include "policy/network/address_kinds.h"

#include <array>
#include <span>
#include <utility>
#include <vector>

namespace hutch::policy {

namespace {

struct Special {
  std::string_view range;
  std::string_view kind;
};

constexpr std::string_view kMetadata = "the address of a cloud's metadata service";
constexpr std::string_view kPrivate = "a private address";
constexpr std::string_view kLinkLocal = "a link-local address";
constexpr std::string_view kReserved = "a reserved address";

// First match. Ranges for documentation (192.0.2.0/24 and its like) lead nowhere and are left out.
constexpr std::array kSpecials = {
    Special{"169.254.169.254", kMetadata},
    Special{"169.254.170.2", kMetadata},    // of containers (ECS)
    Special{"169.254.170.23", kMetadata},   // of pods (EKS)
    Special{"100.100.100.200", kMetadata},  // Alibaba
    Special{"192.0.0.192", kMetadata},      // Oracle
    Special{"168.63.129.16", kMetadata},    // Azure; an address of the open range
    Special{"fd00:ec2::254", kMetadata},
    Special{"fd00:ec2::23", kMetadata},
    Special{"fd20:ce::254", kMetadata},  // Google
    Special{"0.0.0.0", "the unspecified address"},
    Special{"0.0.0.0/8", "an address of this host"},  // RFC 1122 3.2.1.3
    Special{"127.0.0.0/8", "a loopback address"},
    Special{"10.0.0.0/8", kPrivate},
    Special{"172.16.0.0/12", kPrivate},
    Special{"192.168.0.0/16", kPrivate},
    Special{"100.64.0.0/10", "a private address (of a carrier)"},  // RFC 6598
    Special{"169.254.0.0/16", kLinkLocal},
    Special{"192.0.0.0/24", kReserved},  // RFC 6890: of protocols
    Special{"198.18.0.0/15", kReserved},  // RFC 2544: of benchmarks; the gateway gives names these
    Special{"224.0.0.0/4", "a multicast address"},
    Special{"255.255.255.255", "the broadcast address"},
    Special{"240.0.0.0/4", kReserved},
    Special{"::", "the unspecified address"},
    Special{"::1", "a loopback address"},
    Special{"64:ff9b:1::/48", kReserved},  // RFC 8215: which IPv4 address is meant is known in one network alone
    Special{"100::/64", kReserved},        // RFC 6666: discarded
    Special{"2001::/32", kReserved},       // Teredo: carries an IPv4 address out of sight
    Special{"5f00::/16", kReserved},       // RFC 9602
    Special{"fc00::/7", kPrivate},
    Special{"fe80::/10", kLinkLocal},
    Special{"fec0::/10", kPrivate},  // RFC 3879: once site-local
    Special{"ff00::/8", "a multicast address"},
};

using Table = std::vector<std::pair<IpRange, std::string_view>>;

const Table& table();
std::string_view kind_of(const IpAddress& address);

}  // namespace

std::string_view special_kind(const IpAddress& address) {
  const std::string_view own = kind_of(address);
  if (!own.empty()) return own;
  const std::optional<IpAddress> inner = embedded_v4(address);
  return inner ? kind_of(*inner) : std::string_view();
}

bool is_loopback(const IpAddress& address) {
  static const IpRange kV4 = *parse_ip_range("127.0.0.0/8");
  static const IpAddress kV6 = *parse_ip("::1");
  const IpAddress plain = embedded_v4(address).value_or(address);
  return kV4.contains(plain) || plain == kV6;
}

bool is_private(const IpAddress& address) { return special_kind(address).starts_with(kPrivate); }

namespace {

const Table& table() {
  static const Table kTable = [] {
    Table made;
    for (const Special& special : kSpecials) made.emplace_back(*parse_ip_range(special.range), special.kind);
    return made;
  }();
  return kTable;
}

std::string_view kind_of(const IpAddress& address) {
  for (const auto& [range, kind] : table()) {
    if (range.contains(address)) return kind;
  }
  return {};
}

}  // namespace

}  // namespace hutch::policy
