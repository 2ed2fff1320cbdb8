// Entries that let UDP out: which host and port one names.
#pragma once

#include <string_view>

#include "base/result.h"
#include "policy/network/hosts.h"
#include "policy/policy.h"

namespace hutch::policy {

struct UdpEntry {
  Host host;
  int port = 0;
  bool operator==(const UdpEntry&) const = default;
};

// "ntp.example.org:123", "192.0.2.7:123", "[2001:db8::7]:123": one host or address and one port, never the DNS's, which
// the gateway answers itself, nor an address that is the sandbox's own.
Result<UdpEntry> parse_udp(std::string_view entry);

// What has to hold between the entries, and between them and other rules.
Status check_udp(const Network& network);

}  // namespace hutch::policy
