// The addresses of this machine. getifaddrs(3).
#pragma once

#include <vector>

#include "base/ip_address.h"

namespace hutch::sys {

// Of all interfaces; empty when the kernel does not say.
std::vector<IpAddress> interface_addresses();

}  // namespace hutch::sys
