// Amends a policy's network by options.
#include "policy/document/amend.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "policy/network/domains.h"
#include "policy/network/hosts.h"
#include "policy/network/sockets.h"
#include "policy/network/udp.h"

namespace hutch::policy {

namespace {

enum class Added { kYes, kWasThere };

template <class T>
Added add_to_list(std::vector<T>& list, const T& entry) {
  if (std::ranges::find(list, entry) != list.end()) return Added::kWasThere;
  list.push_back(entry);
  return Added::kYes;
}

void close_all(Network& network, const NetworkOptions& options);
Status check_options(const NetworkOptions& options);
Status check_some_network(const NetworkOptions& options);
bool is_gateways(int port) { return std::ranges::find(kGatewayPorts, port) != kGatewayPorts.end(); }

}  // namespace

Status amend(Network& network, const NetworkOptions& options) {
  TRY(check_options(options));
  if (options.mode) network.mode = *options.mode;
  if (options.mode == NetworkMode::kNone) close_all(network, options);
  for (const std::string& entry : options.allow_sockets) {
    if (add_to_list(network.allow_unix_sockets, entry) == Added::kYes) network.from_options.push_back(entry);
  }
  if (network.mode == NetworkMode::kNone) return check_some_network(options);
  for (const std::string& entry : options.allow_domains) {
    if (add_to_list(network.allowed_domains, entry) == Added::kYes) network.from_options.push_back(entry);
  }
  for (const std::string& entry : options.deny_domains) {
    if (add_to_list(network.denied_domains, entry) == Added::kYes) network.from_options.push_back(entry);
  }
  for (const std::string& entry : options.allow_udp) {
    if (add_to_list(network.allowed_udp, entry) == Added::kYes) network.from_options.push_back(entry);
  }
  for (const int port : options.host_ports) add_to_list(network.host_ports, port);
  for (const PublishedPort& port : options.publish) add_to_list(network.publish, port);
  TRY(check_udp(network));
  return check_ports(network);
}

std::optional<NetworkMode> network_mode_of(std::string_view word) {
  if (word == "none" || word == "sandboxed") return NetworkMode::kNone;
  if (word == "outbound" || word == "trusted") return NetworkMode::kOutbound;
  return std::nullopt;
}

Result<PublishedPort> parse_published(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const std::optional<int> host = parse_port(text.substr(0, colon));
    const std::optional<int> sandbox = parse_port(text.substr(colon + 1));
    if (host && sandbox) return PublishedPort{*host, *sandbox};
  }
  return fail(Error::invalid(
      cat({"\"", printable(text, 64), "\" is not a pair of ports; write HOST:SANDBOX, as in 8080:3000"})));
}

Status check_ports(const Network& network) {
  const auto wrong = [](std::string_view what, int port, std::string_view reason) {
    return fail(Error::invalid(cat({what, " ", std::to_string(port), ": ", reason})));
  };
  static constexpr std::string_view kGateways = "is the gateway's own port in the sandbox";
  const std::vector<int>& ports = network.host_ports;
  for (const int port : ports) {
    if (is_gateways(port)) return wrong("host port", port, kGateways);
    if (std::ranges::count(ports, port) > 1) return wrong("host port", port, "is named twice");
  }
  for (const PublishedPort& one : network.publish) {
    if (is_gateways(one.sandbox)) return wrong("published port", one.sandbox, kGateways);
    if (std::ranges::count(network.publish, one.host, &PublishedPort::host) > 1) {
      return wrong("published port", one.host, "of this host is named twice");
    }
    if (std::ranges::find(ports, one.sandbox) != ports.end()) {
      return wrong("published port", one.sandbox, "is at the same time a host port, at which the gateway listens");
    }
  }
  return {};
}

namespace {

// Also what the policy opens beside its hosts. Its sockets stay for a command: they are files of the host.
void close_all(Network& network, const NetworkOptions& options) {
  network.host_ports.clear();
  network.publish.clear();
  network.allowed_udp.clear();
  if (!options.agent.empty()) network.allow_unix_sockets.clear();
}

Status check_options(const NetworkOptions& options) {
  for (const std::string& entry : options.allow_domains) {
    TRY_CTX(check_domain(entry, DomainList::kAllowed), "--allow-domain");
  }
  for (const std::string& entry : options.deny_domains) {
    TRY_CTX(check_domain(entry, DomainList::kDenied), "--deny-domain");
  }
  for (const std::string& entry : options.allow_udp) TRY_CTX(parse_udp(entry), "--allow-udp");
  for (const std::string& entry : options.allow_sockets) TRY_CTX(check_socket_entry(entry), "--allow-socket");
  return {};
}

Status check_some_network(const NetworkOptions& options) {
  const std::array<std::pair<std::string_view, bool>, 4> given = {
      std::pair("--allow-domain", !options.allow_domains.empty()), std::pair("--allow-udp", !options.allow_udp.empty()),
      std::pair("--allow-host-port", !options.host_ports.empty()), std::pair("--publish", !options.publish.empty())};
  for (const auto& [name, there] : given) {
    if (!there) continue;
    if (!options.agent.empty()) {
      return fail(Error::invalid(cat({"allowedDomains of agent ", options.agent, ": its policy's network is \"none\"; ",
                                      "hutch agent set ", options.agent, " network=rules opens it"})));
    }
    if (options.mode) return fail(Error::invalid(cat({name, " and --network none: give one of them"})));
    return fail(Error::invalid(cat({name, ": the policy's network is \"none\"; say --network rules besides"})));
  }
  return {};
}

}  // namespace

}  // namespace hutch::policy
