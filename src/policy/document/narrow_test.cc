// A network narrowed to some hosts never opens what it did not, nor what was not named.
#include "policy/document/narrow.h"

#include <gtest/gtest.h>

#include "policy/network/hosts.h"
#include "policy/network/rules.h"

namespace hutch::policy {
namespace {

bool opens(const Network& network, const char* host, int port = 443) {
  return decide_host(network, *canonical_host(host), port).verdict == HostVerdict::kAllow;
}

TEST(NarrowTest, NamedHostsStayAsFarAsTheyWereOpen) {
  Network network;
  network.allowed_domains = {"*.example.com", "api.example.org:443", "other.example.net"};
  network.denied_domains = {"bad.example.com"};
  network.allow_unix_sockets = {"/run/x.sock"};
  network.host_ports = {5432};
  network.allowed_udp = {"api.example.org:123"};
  ASSERT_TRUE(narrow_to(network, {"a.example.com", "bad.example.com", "api.example.org", "evil.example.edu"}));
  EXPECT_TRUE(opens(network, "a.example.com"));
  EXPECT_TRUE(opens(network, "api.example.org"));
  EXPECT_FALSE(opens(network, "api.example.org", 80));
  for (const char* host :
       {"b.example.com", "bad.example.com", "other.example.net", "evil.example.edu", "x.a.example.com"}) {
    EXPECT_FALSE(opens(network, host)) << host;
    EXPECT_EQ(decide_host(network, *canonical_host(host), 443).verdict, HostVerdict::kDeny) << host;
  }
  EXPECT_TRUE(network.allow_unix_sockets.empty() && network.host_ports.empty() && network.allowed_udp.empty());
}

TEST(NarrowTest, OfAnOpenNetworkTheNamedHostsStay) {
  Network network;
  network.mode = NetworkMode::kOutbound;
  ASSERT_TRUE(narrow_to(network, {"a.example.com"}));
  EXPECT_TRUE(opens(network, "a.example.com"));
  EXPECT_FALSE(opens(network, "b.example.com"));
}

TEST(NarrowTest, NothingNamedIsNothing) {
  for (const NetworkMode mode : {NetworkMode::kOutbound, NetworkMode::kRules, NetworkMode::kNone}) {
    Network network;
    network.mode = mode;
    network.allowed_domains = {"a.example.com"};
    ASSERT_TRUE(narrow_to(network, {}));
    EXPECT_EQ(network.mode, NetworkMode::kNone);
    EXPECT_FALSE(opens(network, "a.example.com"));
  }
  Network closed;
  closed.mode = NetworkMode::kNone;
  closed.allowed_domains = {"a.example.com"};
  ASSERT_TRUE(narrow_to(closed, {"a.example.com"}));
  EXPECT_FALSE(opens(closed, "a.example.com"));
  Network host;
  host.mode = NetworkMode::kHost;
  EXPECT_FALSE(narrow_to(host, {}));
}

TEST(NarrowTest, RulesOfRequestsStayWithTheirHosts) {
  Network network;
  network.allowed_domains = {"*.example.com"};
  HttpRule reading;
  reading.host = "*.example.com";
  reading.methods = {"GET"};
  HttpRule other;
  other.host = "b.example.org";
  network.rules = {reading, other};
  ASSERT_TRUE(narrow_to(network, {"a.example.com"}));
  ASSERT_EQ(network.rules.size(), 1U);
  EXPECT_EQ(network.rules[0].host, "a.example.com");
  EXPECT_EQ(network.rules[0].methods, std::vector<std::string>{"GET"});
  EXPECT_FALSE(opens(network, "b.example.org"));
}

}  // namespace
}  // namespace hutch::policy
