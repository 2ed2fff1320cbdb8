// Addresses of the Internet Protocol.
#include "base/ip_address.h"

#include <arpa/inet.h>

#include <cstring>

namespace hutch {

namespace {

IpAddress v4_of(const std::uint8_t* bytes) { return IpAddress::v4(bytes[0], bytes[1], bytes[2], bytes[3]); }

bool has_prefix(const IpAddress& address, const IpAddress& prefix, int bits) {
  const int whole = bits / 8;
  if (std::memcmp(address.bytes.data(), prefix.bytes.data(), static_cast<std::size_t>(whole)) != 0) return false;
  const int rest = bits % 8;
  if (rest == 0) return true;
  const auto at = static_cast<std::size_t>(whole);
  return ((address.bytes[at] ^ prefix.bytes[at]) >> (8 - rest)) == 0;
}

bool starts_with(const IpAddress& address, std::string_view prefix, int bits) {
  return has_prefix(address, *parse_ip(prefix), bits);
}

}  // namespace

IpAddress IpAddress::v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  IpAddress address;
  address.bytes[0] = a;
  address.bytes[1] = b;
  address.bytes[2] = c;
  address.bytes[3] = d;
  return address;
}

IpAddress IpAddress::v4(std::uint32_t host_order) {
  return v4(static_cast<std::uint8_t>(host_order >> 24), static_cast<std::uint8_t>(host_order >> 16),
            static_cast<std::uint8_t>(host_order >> 8), static_cast<std::uint8_t>(host_order));
}

std::uint32_t IpAddress::v4_host_order() const {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

std::optional<IpAddress> parse_ip(std::string_view text) {
  char buffer[INET6_ADDRSTRLEN + 1] = {};
  if (text.size() >= sizeof buffer || text.find('\0') != std::string_view::npos) return std::nullopt;
  text.copy(buffer, text.size());
  IpAddress address;
  if (::inet_pton(AF_INET, buffer, address.bytes.data()) == 1) return address;
  address.family = IpFamily::kV6;
  if (::inet_pton(AF_INET6, buffer, address.bytes.data()) == 1) return address;
  return std::nullopt;
}

std::string to_string(const IpAddress& address) {
  char buffer[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(address.family == IpFamily::kV4 ? AF_INET : AF_INET6, address.bytes.data(), buffer, sizeof buffer);
  return buffer;
}

std::optional<IpAddress> embedded_v4(const IpAddress& address) {
  if (address.family != IpFamily::kV6) return std::nullopt;
  const std::uint8_t* bytes = address.bytes.data();
  if (starts_with(address, "2002::", 16)) return v4_of(bytes + 2);
  if (starts_with(address, "::ffff:0:0", 96) || starts_with(address, "::ffff:0:0:0", 96) ||
      starts_with(address, "64:ff9b::", 96)) {
    return v4_of(bytes + 12);
  }
  // "::" and "::1" are addresses of IPv6's own.
  if (starts_with(address, "::", 96) && v4_of(bytes + 12).v4_host_order() > 1) return v4_of(bytes + 12);
  return std::nullopt;
}

bool IpRange::contains(const IpAddress& address) const {
  return address.family == base.family && has_prefix(address, base, bits);
}

std::optional<IpRange> parse_ip_range(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto base = parse_ip(text.substr(0, slash));
  if (!base) return std::nullopt;
  const int bits_max = base->family == IpFamily::kV4 ? 32 : 128;
  if (slash == std::string_view::npos) return IpRange{*base, bits_max};
  const std::string_view digits = text.substr(slash + 1);
  if (digits.empty() || digits.size() > 3 || (digits.size() > 1 && digits[0] == '0')) return std::nullopt;
  int bits = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return std::nullopt;
    bits = bits * 10 + (digit - '0');
  }
  if (bits > bits_max) return std::nullopt;
  for (int bit = bits; bit < bits_max; ++bit) {
    if ((base->bytes[static_cast<std::size_t>(bit / 8)] >> (7 - bit % 8) & 1) != 0) return std::nullopt;
  }
  return IpRange{*base, bits};
}

}  // namespace hutch
