// What a host is called: one canonical form for all the ways in which a name or an address can be written.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ip_address.h"
#include "base/result.h"

namespace hutch::policy {

struct Host {
  std::string name;  // lower case, A-labels, no trailing dot; of an address its standard form, without brackets
  std::optional<IpAddress> address;
  bool operator==(const Host&) const = default;
};

// Reads a host as a program or a person gives it: a name in any case, with or without a trailing dot, internationalised
// (IDNA 2008, UTS 46), an address in brackets or without, and every form that inet_aton(3) takes for one ("127.1",
// "0x7f000001", "2130706433", "0177.0.0.1"). An IPv4 address that IPv6 maps (::ffff:0:0/96) is that IPv4 address, as it
// is for connect(2). Refuses zone ids, NUL, CR, LF, blanks, and what can be no host name.
Result<Host> canonical_host(std::string_view text);

// The IPv4 address of a mapped one, else the address itself.
IpAddress unmapped(const IpAddress& address);

struct HostPort {
  Host host;
  std::optional<int> port;
};

// "example.com", "example.com:443", "127.0.0.1:80", "[::1]:80", "::1".
Result<HostPort> parse_host_port(std::string_view text);

// 1 to 65535, in decimal, without a sign or leading zeros.
std::optional<int> parse_port(std::string_view digits);

}  // namespace hutch::policy
