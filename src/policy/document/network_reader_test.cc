// Tests of the network section of a policy file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "policy/document/amend.h"
#include "policy/document/reader.h"

namespace hutch::policy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

std::string network_error(std::string_view network) {
  const auto policy = read_policy(cat({"{\"network\": ", network, "}"}), "p");
  return policy ? "no error" : policy.error().message;
}

Network read_network(std::string_view network) {
  const auto policy = read_policy(cat({"{\"network\": ", network, "}"}), "p");
  EXPECT_TRUE(policy.has_value()) << policy.error().message;
  return policy ? policy->network : Network();
}

TEST(NetworkReader, Modes) {
  EXPECT_EQ(read_network(R"("none")").mode, NetworkMode::kNone);
  EXPECT_EQ(read_network(R"("sandboxed")").mode, NetworkMode::kNone);
  EXPECT_EQ(read_network(R"("outbound")").mode, NetworkMode::kOutbound);
  EXPECT_EQ(read_network(R"("trusted")").mode, NetworkMode::kOutbound);
  EXPECT_EQ(read_network(R"("host")").mode, NetworkMode::kHost);
  EXPECT_EQ(network_mode_of("host"), std::nullopt);  // of files alone
  EXPECT_EQ(read_network("{}").mode, NetworkMode::kRules);
  const Network list = read_network(R"(["example.com", "10.0.0.0/8"])");
  EXPECT_EQ(list.mode, NetworkMode::kRules);
  EXPECT_THAT(list.allowed_domains, ElementsAre("example.com", "10.0.0.0/8"));
}

TEST(NetworkReader, Everything) {
  const Network network = read_network(R"({
    "allowedDomains": ["*.example.com", "bücher.example"],
    "deniedDomains": ["bad.example.com"],
    "deniedDomainReasons": {"bad.example.com": "ask the owner"},
    "strictAllowlist": true,
    "deniedResolvedAddresses": ["1.2.3.0/24", "2001:db8::/32", "[2001:db8:1::]/48"],
    "dnsDenial": "nxdomain",
    "rules": [{"host": "api.github.com", "methods": ["GET", "HEAD"], "paths": ["/repos/**"],
               "headers": {"set": {"X-From": "a b"}, "remove": ["Cookie"]}}, {"host": "*.example.org:8443"}],
    "hostPorts": [5432, 6379],
    "publish": ["8080:3000"],
    "parentProxy": {"http": "http://u:p@proxy:3128", "https": "http://proxy:3129", "noProxy": ".corp, 10.0.0.0/8"},
    "tlsTerminate": {"excludeDomains": ["*.bank.example"], "extraCaCertPaths": ["~/ca.pem"]}})");
  EXPECT_THAT(network.denied_reasons, ElementsAre(Pair("bad.example.com", "ask the owner")));
  EXPECT_EQ(network.asking, Asking::kNever);
  EXPECT_EQ(network.denied_resolved_addresses.size(), 3U);
  EXPECT_EQ(network.dns_denial, DnsDenial::kNameError);
  ASSERT_EQ(network.rules.size(), 2U);
  EXPECT_THAT(network.rules[0].methods, ElementsAre("GET", "HEAD"));
  EXPECT_THAT(network.rules[0].paths, ElementsAre("/repos/**"));
  EXPECT_THAT(network.rules[0].set_headers, ElementsAre(Pair("X-From", "a b")));
  EXPECT_THAT(network.rules[0].remove_headers, ElementsAre("Cookie"));
  EXPECT_EQ(network.rules[1].host, "*.example.org:8443");
  EXPECT_THAT(network.host_ports, ElementsAre(5432, 6379));
  EXPECT_THAT(network.publish, ElementsAre(PublishedPort{8080, 3000}));
  ASSERT_TRUE(network.parent_proxy);
  EXPECT_EQ(network.parent_proxy->http, "http://u:p@proxy:3128");
  EXPECT_THAT(network.parent_proxy->no_proxy, ElementsAre(".corp", "10.0.0.0/8"));
  EXPECT_THAT(network.tls.exclude_domains, ElementsAre("*.bank.example"));
  EXPECT_THAT(network.tls.extra_ca_paths, ElementsAre("~/ca.pem"));
  EXPECT_THAT(read_network(R"({"parentProxy": {"noProxy": ["a.org"]}})").parent_proxy->no_proxy, ElementsAre("a.org"));
  EXPECT_FALSE(read_network("{}").parent_proxy);
}

struct Bad {
  std::string_view network;
  std::string_view message;
};

TEST(NetworkReader, WhatCannotHold) {
  static constexpr Bad kCases[] = {
      {R"({"allowedDomains": ["exa mple.com"]})", "p: network.allowedDomains[0]: \"exa mple.com\": a host name holds"},
      {R"({"allowedDomains": ["a.org", "*"]})", "p: network.allowedDomains[1]: \"*\": would allow every host"},
      {R"({"allowedDomains": ["::1"]})", "is written in brackets"},
      {R"({"allowedDomains": ["a.org:99999"]})", "a port is a number from 1 to 65535"},
      {R"({"allowedDomains": ["https://a.org/x"]})",
       "\"https://a.org/x\": is the address of a page; write the host alone: a.org"},
      {R"({"allowedDomains": ["git://me@a.org:9418"]})", "write the host alone: a.org:9418"},
      {R"({"allowedDomains": ["a.org/x"]})", "write the host alone: a.org"},
      {R"({"allowedDomains": ["ab::/200"]})", "is not a range"},
      {R"(["*.0.0.1"])", "p: network[0]: \"*.0.0.1\": names are below names alone"},
      {R"({"deniedDomains": ["a.org"], "deniedDomainReasons": {"b.org": "x"}})",
       "p: network.deniedDomainReasons: \"b.org\" is not an entry of network.deniedDomains"},
      {R"({"deniedResolvedAddresses": ["example.com"]})",
       "p: network.deniedResolvedAddresses[0]: \"example.com\": is not a range"},
      {R"({"deniedResolvedAddresses": ["10.0.0.1/8"]})", "without bits behind the prefix"},
      {R"({"dnsDenial": "drop"})", "p: network.dnsDenial: must be \"refused\" or \"nxdomain\", not \"drop\""},
      {R"({"rules": {"host": "a"}})", "p: network.rules: must be a list of rules"},
      {R"({"rules": ["a.org"]})", "p: network.rules[0]: must be an object with a \"host\""},
      {R"({"rules": [{"hots": "a.org"}]})", "p: network.rules[0]: hots: unknown key; did you mean host?"},
      {R"({"rules": [{"methods": ["GET"]}]})", "p: network.rules[0]: host: is missing"},
      {R"({"rules": [{"host": "*"}]})", "p: network.rules[0]: host: \"*\": would allow every host"},
      {R"({"rules": [{"host": "a.org", "methods": ["get"]}]})", "methods[0]: is not a method in upper case"},
      {R"({"rules": [{"host": "a.org", "methods": ["GE T"]}]})", "methods[0]: is not a method in upper case"},
      {R"({"rules": [{"host": "a.org", "methods": ["CONNECT"]}]})", "methods[0]: CONNECT is of proxies"},
      {R"({"rules": [{"host": "a.org", "methods": []}]})", "methods: must be a list of methods; leave it out"},
      {R"({"rules": [{"host": "a.org", "paths": ["repos/**"]}]})", "paths[0]: \"repos/**\" does not start with /"},
      {R"({"rules": [{"host": "a.org", "paths": ["/a?b=c"]}]})", "paths[0]: is a pattern of the path alone"},
      {R"({"rules": [{"host": "a.org", "paths": "/a"}]})", "paths: must be a list"},
      {R"({"rules": [{"host": "a.org", "headers": {"add": {}}}]})", "headers: must be {\"set\""},
      {R"({"rules": [{"host": "a.org", "headers": {"set": {"A B": "x"}}}]})", "headers.set: \"A B\" is not a header"},
      {R"({"rules": [{"host": "a.org", "headers": {"set": {"Host": "b.org"}}}]})",
       "Host is the gateway's own business"},
      {R"({"rules": [{"host": "a.org", "headers": {"remove": ["Content-Length"]}}]})", "the gateway's own business"},
      {R"({"rules": [{"host": "a.org", "headers": {"remove": [1]}}]})", "headers.remove[0]: must be a string"},
      {R"({"hostPorts": [0]})", "p: network.hostPorts[0]: must be a port"},
      {R"({"hostPorts": [65536]})", "p: network.hostPorts[0]: must be a port"},
      {R"({"hostPorts": ["5432"]})", "p: network.hostPorts[0]: must be a port"},
      {R"({"hostPorts": [18446744073709551615]})", "p: network.hostPorts[0]: must be a port"},
      {R"({"hostPorts": [5432, 5432]})", "p: network: host port 5432: is named twice"},
      {R"({"hostPorts": [53]})", "host port 53: is the gateway's own port"},
      {R"({"publish": ["8080"]})", "p: network.publish[0]: \"8080\" is not a pair of ports"},
      {R"({"publish": ["8080:0"]})", "is not a pair of ports"},
      {R"({"publish": ["8080:3000:1"]})", "is not a pair of ports"},
      {R"({"publish": [8080]})", "p: network.publish[0]: must be a string"},
      {R"({"publish": ["8080:3000", "8080:3001"]})", "published port 8080: of this host is named twice"},
      {R"({"publish": ["8080:1023"]})", "published port 1023: is the gateway's own port"},
      {R"({"publish": ["8080:5432"], "hostPorts": [5432]})", "published port 5432: is at the same time a host port"},
      {R"({"parentProxy": {"htp": "x"}})", "p: network.parentProxy.htp: unknown key; did you mean http?"},
      {R"({"parentProxy": {"https": "https://p:1"}})", "network.parentProxy.https: a proxy of the kind https://"},
      {R"({"parentProxy": {"noProxy": ["a b"]}})", "network.parentProxy.noProxy: \"a b\""},
      {R"({"parentProxy": {"noProxy": [1]}})", "network.parentProxy.noProxy[0]: must be a string"},
      {R"({"tlsTerminate": {"excludeDomain": []}})", "unknown key; did you mean excludeDomains?"},
      {R"({"tlsTerminate": {"excludeDomains": ["a b"]}})", "network.tlsTerminate.excludeDomains[0]: \"a b\""},
      {R"({"tlsTerminate": {"extraCaCertPaths": [""]}})", "network.tlsTerminate.extraCaCertPaths[0]: is empty"},
  };
  for (const Bad& bad : kCases)
    EXPECT_THAT(network_error(bad.network), HasSubstr(std::string(bad.message))) << bad.network;
}

TEST(NetworkReader, RulesOfHostsThatAreNotOpened) {
  const auto together = [](std::string_view host, std::string_view excluded) {
    return network_error(cat({R"({"rules": [{"host": ")", host, R"("}], "tlsTerminate": {"excludeDomains": [")",
                              excluded, R"("]}})"})) == "no error";
  };
  EXPECT_FALSE(together("api.github.com", "api.github.com"));
  EXPECT_FALSE(together("API.github.com", "api.GitHub.com."));
  EXPECT_FALSE(together("api.github.com", "*.github.com"));
  EXPECT_FALSE(together("*.github.com", "api.github.com"));
  EXPECT_FALSE(together("*.github.com", "*.github.com"));
  EXPECT_FALSE(together("*.a.github.com", "*.github.com"));
  EXPECT_FALSE(together("api.github.com", "*"));
  EXPECT_FALSE(together("10.0.0.1", "10.0.0.0/8"));
  EXPECT_FALSE(together("a.org:443", "a.org"));
  EXPECT_TRUE(together("a.org:443", "a.org:8443"));
  EXPECT_TRUE(together("github.com", "*.github.com"));
  EXPECT_TRUE(together("10.0.0.1", "*.github.com"));
  EXPECT_TRUE(together("10.0.0.1", "11.0.0.0/8"));
}

TEST(NetworkReader, NothingOfAPasswordIsPrinted) {
  for (const char* network : {R"({"parentProxy": "http://u:s3cret@p:1"})", R"({"parentProxy": {"http": ["u:s3cret"]}})",
                              R"({"parentProxy": {"http": "ftp://u:s3cret@p:1"}})",
                              R"({"parentProxy": {"https": "http://u:s3cret@p:99999"}})",
                              R"({"rules": [{"host": "a.org", "headers": {"set": {"A": "s3cret\n"}}}]})"}) {
    EXPECT_NE(network_error(network), "no error") << network;
    EXPECT_THAT(network_error(network), Not(HasSubstr("s3cret")));
  }
}

TEST(NetworkReader, KeysThatAreDoneOtherwise) {
  const auto policy = read_policy(R"({"network": {"tlsTerminate": {"caCertPath": "/x", "caKeyPath": "/y",
    "maxTunnels": 5, "excludeDomains": []}, "requireHostMatch": true, "socksProxyPort": 1080}})",
                                  "p");
  ASSERT_TRUE(policy.has_value()) << policy.error().message;
  EXPECT_EQ(policy->notes.size(), 5U);
  EXPECT_THAT(policy->notes, testing::Contains(testing::StartsWith("network.tlsTerminate.caCertPath has no effect: ")));
}

}  // namespace
}  // namespace hutch::policy
