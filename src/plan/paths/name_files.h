// The files by which programs find addresses: the sandbox has its own resolv.conf(5) and hosts(5), and the gateway
// answers for every other name.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ip_address.h"
#include "plan/plan.h"

namespace hutch::plan {

// The host's rules about short names, from resolv.conf(5).
struct SearchRules {
  std::vector<std::string> domains;  // lower case, without a trailing dot
  unsigned ndots = 1;
  bool operator==(const SearchRules&) const = default;
};

// A larger file is not read.
inline constexpr std::size_t kResolverBytesMax = 64 << 10;

// Reads the text of a resolv.conf(5). Domains that are not host names are skipped. At most six domains with 256 bytes
// together count, and ndots is at most 15, as the manual says.
SearchRules read_search_rules(std::string_view text);

// The sandbox's /etc/resolv.conf. Without a network it names no server, so that programs fail immediately.
std::string resolver_file(const SearchRules& rules, NetworkKind network);

// The sandbox's /etc/hosts: localhost of both families, and `hostname`.
std::string hosts_file(std::string_view hostname);

// Addresses by canonical name (policy/network/hosts.h), in the order of the file.
using HostTable = std::unordered_map<std::string, std::vector<IpAddress>>;

inline constexpr std::size_t kHostsBytesMax = 1 << 20;
inline constexpr std::size_t kHostNamesMax = 100'000;
inline constexpr std::size_t kHostAddressesMax = 16;  // per name

// Reads the text of a hosts(5). Words that are not addresses or host names are skipped, and so is everything beyond the
// limits.
HostTable read_hosts(std::string_view text);

// The part of `name` before the search domain at its end; empty if no search domain is there.
std::string_view stem_of(const SearchRules& rules, std::string_view name);

}  // namespace hutch::plan
