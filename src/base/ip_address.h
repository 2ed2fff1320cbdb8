// Addresses of the Internet Protocol and ranges of them, as values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hutch {

enum class IpFamily { kV4, kV6 };

// An address; of IPv4 the first four bytes, the others 0.
struct IpAddress {
  IpFamily family = IpFamily::kV4;
  std::array<std::uint8_t, 16> bytes{};

  auto operator<=>(const IpAddress&) const = default;

  static IpAddress v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d);
  static IpAddress v4(std::uint32_t host_order);
  std::uint32_t v4_host_order() const;
};

// The standard forms alone: four decimal numbers without leading zeros (RFC 6943 3.1.1), or IPv6 (RFC 4291 2.2) without
// brackets and without a zone.
std::optional<IpAddress> parse_ip(std::string_view text);

// RFC 5952 for IPv6.
std::string to_string(const IpAddress& address);

// The IPv4 address that an IPv6 one carries: mapped, compatible, translated (RFC 2765), NAT64 (64:ff9b::/96), 6to4.
std::optional<IpAddress> embedded_v4(const IpAddress& address);

struct IpRange {
  IpAddress base;
  int bits = 0;  // of the prefix

  bool contains(const IpAddress& address) const;
  bool operator==(const IpRange&) const = default;
};

// "10.0.0.0/8", "fd00::/8", or an address alone, which is a range of one. Bits beyond the prefix have to be 0.
std::optional<IpRange> parse_ip_range(std::string_view text);

}  // namespace hutch
