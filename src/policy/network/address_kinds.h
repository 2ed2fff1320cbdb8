// Addresses that are not of the open Internet, and what they are instead.
#pragma once

#include <string_view>

#include "base/ip_address.h"

namespace hutch::policy {

// "a loopback address", "a metadata service of a cloud"; empty for an address of the open Internet. An IPv6 address
// that carries an IPv4 one is judged as that one too.
std::string_view special_kind(const IpAddress& address);

bool is_loopback(const IpAddress& address);

// Whether the address is in a private network; a carrier's private network counts too.
bool is_private(const IpAddress& address);

}  // namespace hutch::policy
