// Fuzzes the canonical form of hosts and the entries that name them: what comes out is plain, and its own canonical
// form.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "policy/network/domains.h"
#include "policy/network/hosts.h"
#include "policy/network/udp.h"

namespace {

using namespace hutch;

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_plain(char character) {
  return (character >= 'a' && character <= 'z') || (character >= '0' && character <= '9') || character == '-' ||
         character == '_' || character == '.' || character == ':';
}

void check_host(const policy::Host& host) {
  require(!host.name.empty() && host.name.size() <= 253);
  require(std::ranges::all_of(host.name, is_plain));
  require(!host.address || to_string(*host.address) == host.name);
  require(host.address.has_value() == parse_ip(host.name).has_value());
  const auto again = policy::canonical_host(host.name);
  require(again && *again == host);
}

void check_entry(std::string_view text) {
  const auto pattern = policy::parse_domain(text, policy::DomainList::kAllowed);
  if (!pattern) {
    require(!pattern.error().message.empty() && pattern.error().message.find('\n') == std::string::npos);
    return;
  }
  require(policy::check_domain(text, policy::DomainList::kDenied).has_value());
  require(pattern->kind != policy::HostPattern::Kind::kEverything);
  require(pattern->kind != policy::HostPattern::Kind::kRange || pattern->range.bits > 0);
  const policy::Host address{"127.0.0.1", parse_ip("127.0.0.1")};
  require(pattern->kind == policy::HostPattern::Kind::kRange || !pattern->matches_host(address));
}

void check_udp_entry(std::string_view text) {
  const auto entry = policy::parse_udp(text);
  if (!entry) return require(!entry.error().message.empty());
  check_host(entry->host);
  require(entry->port >= 1 && entry->port <= 65535 && entry->port != 53);
  require(entry->host.name != "localhost" && entry->host.name != "127.0.0.1" && entry->host.name != "::1");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto host = policy::canonical_host(text)) check_host(*host);
  if (const auto target = policy::parse_host_port(text)) {
    check_host(target->host);
    require(!target->port || (*target->port >= 1 && *target->port <= 65535));
  }
  check_entry(text);
  check_udp_entry(text);
  return 0;
}
