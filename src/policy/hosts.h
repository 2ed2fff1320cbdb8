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
// "0x7f000001", "2130706433", "0177.0.0.1"). Refuses zone ids, NUL, CR, LF, blanks, and what can be no host name.
Result<Host> canonical_host(std::string_view text);

}  // namespace hutch::policy
