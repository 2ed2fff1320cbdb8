// Names of hosts in a policy: what an entry may look like, and which hosts it matches.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "policy/policy.h"

namespace hutch::policy {

// Where an entry stands: a deny list may name everything ("*"), an allow list may not.
enum class DomainList { kAllowed, kDenied };

// "example.com", "*.example.com" (at least two labels after the star), "localhost", an address, "[::1]"; with ":port".
Status check_domain(std::string_view entry, DomainList list);

// Whether `entry` matches the host and port. "*.example.com" does not match example.com itself.
bool matches_domain(std::string_view entry, std::string_view host, int port);

struct HostDecision {
  bool allowed = false;
  std::string rule;
  std::string why;
};

// `target` is "host" or "host:port" (443 without a port).
HostDecision decide_host_name(const Network& network, std::string_view target);

}  // namespace hutch::policy
