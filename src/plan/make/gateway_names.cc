// The addresses that names have inside.
#include "plan/make/gateway_names.h"

#include <algorithm>
#include <map>

#include "policy/network/udp.h"

namespace hutch::plan {

namespace {

// 198.18.0.0/16 of the benchmarking range (RFC 2544), which nobody has on the Internet, and a unique local prefix
// (RFC 4193) beside that of the sandbox's own address. The last 16 bits of both are the name's number.
constexpr std::uint32_t kV4Base = 198U << 24 | 18U << 16;
const IpRange kV4Range{IpAddress::v4(kV4Base), 16};
const IpRange kV6Range = *parse_ip_range("fd68:7574:6368:1::/112");

}  // namespace

NameAddresses name_addresses(std::uint32_t number) {
  IpAddress v6 = kV6Range.base;
  v6.bytes[14] = static_cast<std::uint8_t>(number >> 8);
  v6.bytes[15] = static_cast<std::uint8_t>(number);
  return {IpAddress::v4(kV4Base | number), v6};
}

bool is_name_address(const IpAddress& address) { return kV4Range.contains(address) || kV6Range.contains(address); }

std::uint32_t name_number(const IpAddress& address) {
  const std::size_t at = address.family == IpFamily::kV4 ? 2 : 14;
  return std::uint32_t{address.bytes[at]} << 8 | address.bytes[at + 1];
}

std::vector<UdpCapture> udp_captures(const policy::Network& network) {
  std::vector<UdpCapture> captures;
  std::map<std::string, std::uint32_t> numbers;
  for (const std::string& text : network.allowed_udp) {
    const auto entry = policy::parse_udp(text);
    if (!entry) continue;
    UdpCapture capture{.host = entry->host.name, .port = static_cast<std::uint16_t>(entry->port), .addresses = {}};
    capture.gateway_port = static_cast<std::uint16_t>(kFirstUdpPort + captures.size());
    if (entry->host.address) capture.addresses = {*entry->host.address};
    if (!entry->host.address) {
      const auto number = static_cast<std::uint32_t>(numbers.size() + 1);
      const NameAddresses given = name_addresses(numbers.emplace(entry->host.name, number).first->second);
      capture.addresses = {given.v4, given.v6};
    }
    captures.push_back(std::move(capture));
  }
  return captures;
}

}  // namespace hutch::plan
