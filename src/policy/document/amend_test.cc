// Tests of what a command line changes of a policy's network.
#include "policy/document/amend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/network/rules.h"

namespace hutch::policy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

NetworkOptions mode(NetworkMode mode) {
  NetworkOptions options;
  options.mode = mode;
  return options;
}

NetworkOptions allow(std::string domain) {
  NetworkOptions options;
  options.allow_domains = {std::move(domain)};
  return options;
}

std::string error(Network network, const NetworkOptions& options) {
  const Status status = amend(network, options);
  return status ? "no error" : status.error().message;
}

TEST(Amend, AddsToTheLists) {
  Network network;
  network.allowed_domains = {"a.org"};
  network.host_ports = {5432};
  NetworkOptions options = allow("b.org:443");
  options.deny_domains = {"*.c.org"};
  options.host_ports = {5432, 6379};
  options.publish = {{8080, 3000}, {8080, 3000}};
  ASSERT_EQ(error(network, options), "no error");
  ASSERT_TRUE(amend(network, options));
  EXPECT_THAT(network.allowed_domains, ElementsAre("a.org", "b.org:443"));
  EXPECT_THAT(network.denied_domains, ElementsAre("*.c.org"));
  EXPECT_THAT(network.host_ports, ElementsAre(5432, 6379));
  EXPECT_EQ(network.publish.size(), 1U);
  const auto rule = [&](std::string_view name) { return decide_host(network, canonical_host(name).value(), 443).rule; };
  EXPECT_EQ(rule("a.org"), "network.allowedDomains \"a.org\"");
  EXPECT_EQ(rule("b.org"), "--allow-domain \"b.org:443\"");
  EXPECT_EQ(rule("x.c.org"), "--deny-domain \"*.c.org\"");
}

TEST(Amend, Modes) {
  Network network;
  network.allowed_domains = {"a.org"};
  ASSERT_TRUE(amend(network, mode(NetworkMode::kOutbound)));
  EXPECT_EQ(network.mode, NetworkMode::kOutbound);
  EXPECT_EQ(network.allowed_domains.size(), 1U) << "an address of the list is still an exception";
  ASSERT_TRUE(amend(network, mode(NetworkMode::kNone)));
  EXPECT_EQ(network.mode, NetworkMode::kNone);
  NetworkOptions back = allow("b.org");
  back.mode = NetworkMode::kRules;
  EXPECT_EQ(error(network, back), "no error");
}

TEST(Amend, NoneClosesWhatThePolicyOpensBesideItsHosts) {
  Network network;
  network.host_ports = {5432};
  network.publish = {{8080, 3000}};
  network.allowed_udp = {"ntp.example.org:123"};
  network.allow_unix_sockets = {"/run/a.sock"};
  ASSERT_TRUE(amend(network, mode(NetworkMode::kNone)));
  EXPECT_TRUE(network.host_ports.empty() && network.publish.empty() && network.allowed_udp.empty());
  EXPECT_THAT(network.allow_unix_sockets, ElementsAre("/run/a.sock"));
  NetworkOptions of_agent = mode(NetworkMode::kNone);
  of_agent.agent = "alice";
  ASSERT_TRUE(amend(network, of_agent));
  EXPECT_TRUE(network.allow_unix_sockets.empty());
}

TEST(Amend, NothingIsAllowedWhereThereIsNoNetwork) {
  Network none;
  none.mode = NetworkMode::kNone;
  EXPECT_EQ(error(none, allow("a.org")),
            "--allow-domain: the policy's network is \"none\"; say --network rules besides");
  NetworkOptions both = allow("a.org");
  both.mode = NetworkMode::kNone;
  EXPECT_EQ(error(Network(), both), "--allow-domain and --network none: give one of them");
  NetworkOptions ports;
  ports.host_ports = {5432};
  EXPECT_THAT(error(none, ports), HasSubstr("--allow-host-port: "));
  NetworkOptions publish;
  publish.publish = {{8080, 80}};
  EXPECT_THAT(error(none, publish), HasSubstr("--publish: "));
  NetworkOptions deny;
  deny.deny_domains = {"a.org"};
  EXPECT_EQ(error(none, deny), "no error");
}

TEST(Amend, BadEntries) {
  EXPECT_THAT(error(Network(), allow("*")), HasSubstr("--allow-domain: \"*\": would allow every host"));
  NetworkOptions deny;
  deny.deny_domains = {"a b"};
  EXPECT_THAT(error(Network(), deny), HasSubstr("--deny-domain: \"a b\""));
  NetworkOptions ports;
  ports.host_ports = {1023};
  EXPECT_THAT(error(Network(), ports), HasSubstr("host port 1023: is the gateway's own port"));
  Network network;
  network.publish = {{8080, 1}};
  NetworkOptions publish;
  publish.publish = {{8080, 3000}};
  EXPECT_THAT(error(Network(), publish), "no error");
  network.publish = {{8080, 2000}};
  EXPECT_THAT(error(network, publish), HasSubstr("published port 8080: of this host is named twice"));
}

TEST(Amend, PublishedPorts) {
  EXPECT_EQ(*parse_published("8080:3000"), (PublishedPort{8080, 3000}));
  for (const char* text : {"", ":", "8080", "8080:", ":80", "0:80", "80:65536", "a:b", "80:80:80", "80 :80", "-1:80"}) {
    EXPECT_FALSE(parse_published(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace hutch::policy
