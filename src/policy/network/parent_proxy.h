// The proxies that the gateway itself has to go through, and for which hosts it does not.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip_address.h"
#include "base/result.h"
#include "policy/network/hosts.h"
#include "policy/policy.h"

namespace hutch::policy {

struct ProxyServer {
  Host host;
  int port = 80;
  std::string authorization{};  // the value of Proxy-Authorization; empty: none. Never printed
  bool operator==(const ProxyServer&) const = default;
};

// A host that is reached directly.
struct NoProxyEntry {
  enum class Kind {
    kEverything,  // "*"
    kDomain,      // "example.com": itself and what is below
    kBelow,       // ".example.com", "*.example.com"
    kRange,       // "10.0.0.1", "10.0.0.0/8", "[::1]", "fd00::/8"
  };
  Kind kind = Kind::kDomain;
  std::string name{};
  IpRange range{};
  std::optional<int> port{};
};

struct ParentProxies {
  std::optional<ProxyServer> http;   // of port 80
  std::optional<ProxyServer> https;  // of every other port
  std::vector<NoProxyEntry> no_proxy;
};

// Those of the policy, if it says any (also when it says that there are none); else those of `environment` ("K=V"
// each): HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, of which the lower case spelling wins.
Result<ParentProxies> parent_proxies(const Network& network, std::span<const std::string> environment);

// Null: directly. This machine itself is always reached directly.
const ProxyServer* proxy_for(const ParentProxies& proxies, const Host& host, int port);

// "http://user:password@proxy:3128", the scheme and the credentials may be missing. The message of an error never
// holds the text itself.
Result<ProxyServer> parse_proxy(std::string_view url);

Result<NoProxyEntry> parse_no_proxy(std::string_view text);

// Without credentials: "http://proxy:3128".
std::string describe(const ProxyServer& proxy);

}  // namespace hutch::policy
