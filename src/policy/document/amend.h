// What the command line changes of a policy's network, and what has to hold of the result.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "policy/policy.h"

namespace hutch::policy {

struct NetworkOptions {
  std::optional<NetworkMode> mode;         // --network
  std::vector<std::string> allow_domains;  // --allow-domain
  std::vector<std::string> deny_domains;   // --deny-domain
  std::vector<std::string> allow_udp;      // --allow-udp
  std::vector<std::string> allow_sockets;  // --allow-socket
  std::vector<int> host_ports;             // --allow-host-port
  std::vector<PublishedPort> publish;      // --publish
  std::string agent{};                     // whose settings they are; empty: options of a command line
};

// A mode replaces the policy's; entries are added to its lists. What allows something is an error where nothing is.
Status amend(Network& network, const NetworkOptions& options);

// "none", "outbound", and what others call them: "sandboxed", "trusted"; "rules" is no word of a policy file.
std::optional<NetworkMode> network_mode_of(std::string_view word);

// "8080:3000".
Result<PublishedPort> parse_published(std::string_view text);

// Ports that are named twice, and ports of the sandbox that two would have to listen at.
Status check_ports(const Network& network);

}  // namespace hutch::policy
