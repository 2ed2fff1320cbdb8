// A policy's network for somebody who may reach less than it opens.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "policy/policy.h"

namespace hutch::policy {

// Of what the network opens these hosts alone stay, each at the ports that it was open at; none: nothing does. Nobody
// is asked, and sockets, ports and UDP of the host's are closed. What the policy denies stays denied. An error where no
// rule holds the network.
Status narrow_to(Network& network, const std::vector<std::string>& hosts);

}  // namespace hutch::policy
