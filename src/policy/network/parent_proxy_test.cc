// Tests of the proxies that the gateway goes through.
#include "policy/network/parent_proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hutch::policy {
namespace {

using testing::HasSubstr;
using testing::Not;
using Environment = std::vector<std::string>;

std::string way(const ParentProxies& proxies, std::string_view host, int port) {
  const ProxyServer* proxy = proxy_for(proxies, canonical_host(host).value(), port);
  return proxy == nullptr ? "direct" : describe(*proxy);
}

std::string way_by(const Environment& environment, std::string_view host, int port) {
  const auto proxies = parent_proxies(Network(), environment);
  return proxies ? way(*proxies, host, port) : proxies.error().message;
}

TEST(ParentProxy, Environment) {
  EXPECT_EQ(way_by({}, "a.org", 443), "direct");
  EXPECT_EQ(way_by({"HTTPS_PROXY=http://p:3128"}, "a.org", 443), "http://p:3128");
  EXPECT_EQ(way_by({"HTTPS_PROXY=http://p:3128"}, "a.org", 22), "http://p:3128");
  EXPECT_EQ(way_by({"HTTPS_PROXY=http://p:3128"}, "a.org", 80), "direct");
  EXPECT_EQ(way_by({"HTTP_PROXY=p:3128"}, "a.org", 80), "http://p:3128");
  EXPECT_EQ(way_by({"HTTP_PROXY=http://P.Example/"}, "a.org", 80), "http://p.example:80");
  EXPECT_EQ(way_by({"ALL_PROXY=http://all:1", "HTTP_PROXY=http://h:2"}, "a.org", 80), "http://h:2");
  EXPECT_EQ(way_by({"ALL_PROXY=http://all:1", "HTTP_PROXY=http://h:2"}, "a.org", 443), "http://all:1");
  EXPECT_EQ(way_by({"HTTPS_PROXY=http://upper:1", "https_proxy=http://lower:2"}, "a.org", 443), "http://lower:2");
  EXPECT_EQ(way_by({"HTTPS_PROXY=http://upper:1", "https_proxy="}, "a.org", 443), "direct");
  EXPECT_EQ(way_by({"https_proxy=http://[fd00::1]:8080"}, "a.org", 443), "http://[fd00::1]:8080");
  EXPECT_EQ(way_by({"ALL_PROXY=http://p:1"}, "localhost", 443), "direct");
  EXPECT_EQ(way_by({"ALL_PROXY=http://p:1"}, "any.localhost", 443), "direct");
  EXPECT_EQ(way_by({"ALL_PROXY=http://p:1"}, "localhost.localdomain", 443), "direct");
  EXPECT_EQ(way_by({"ALL_PROXY=http://p:1"}, "ip6-localhost", 443), "direct");
  EXPECT_EQ(way_by({"ALL_PROXY=http://p:1"}, "127.0.0.1", 443), "direct");
  EXPECT_EQ(way_by({"ALL_PROXY=http://p:1"}, "::1", 443), "direct");
}

TEST(ParentProxy, OnlyHttpProxies) {
  EXPECT_THAT(way_by({"HTTPS_PROXY=https://p:1"}, "a.org", 443),
              HasSubstr("HTTPS_PROXY: a proxy of the kind https://"));
  EXPECT_THAT(way_by({"all_proxy=socks5h://p:1"}, "a.org", 443),
              HasSubstr("ALL_PROXY: a proxy of the kind socks5h://"));
  EXPECT_EQ(way_by({"ALL_PROXY=socks5://p:1", "HTTP_PROXY=http://h:1", "HTTPS_PROXY=http://h:1"}, "a.org", 80),
            "http://h:1")
      << "what nothing uses is not read";
}

TEST(ParentProxy, NoProxy) {
  const auto by = [](const std::string& list, std::string_view host, int port) {
    return way_by({"ALL_PROXY=http://p:1", "NO_PROXY=" + list}, host, port) == "direct";
  };
  EXPECT_TRUE(by("*", "a.org", 443));
  EXPECT_TRUE(by("a.org", "a.org", 443));
  EXPECT_TRUE(by("a.org", "A.ORG.", 443));
  EXPECT_TRUE(by("a.org", "www.a.org", 443));
  EXPECT_FALSE(by("a.org", "xa.org", 443));
  EXPECT_TRUE(by(".a.org", "www.a.org", 443));
  EXPECT_TRUE(by("*.a.org", "www.a.org", 443));
  EXPECT_FALSE(by(".a.org", "a.org", 443));
  EXPECT_TRUE(by("corp", "x.corp", 443));
  EXPECT_TRUE(by("b.org, a.org:8443 ,c.org", "a.org", 8443));
  EXPECT_FALSE(by("b.org,a.org:8443,c.org", "a.org", 443));
  EXPECT_TRUE(by("b.org a.org", "a.org", 443));
  EXPECT_TRUE(by("10.1.2.3", "10.1.2.3", 443));
  EXPECT_TRUE(by("10.0.0.0/8", "10.1.2.3", 443));
  EXPECT_FALSE(by("10.0.0.0/8", "11.1.2.3", 443));
  EXPECT_FALSE(by("10.0.0.0/8:80", "10.1.2.3", 443));
  EXPECT_TRUE(by("fd00::/8", "fd00::5", 443));
  EXPECT_TRUE(by("fd00::5", "fd00::5", 443));
  EXPECT_TRUE(by("[fd00::5]:443", "fd00::5", 443));
  EXPECT_FALSE(by("[fd00::5]:80", "fd00::5", 443));
  EXPECT_TRUE(by("//odd//,,a.org", "a.org", 443)) << "what cannot be read is left out";
  EXPECT_EQ(way_by({"ALL_PROXY=http://p:1", "NO_PROXY=a.org", "no_proxy=b.org"}, "a.org", 443), "http://p:1");
}

TEST(ParentProxy, Policy) {
  Network network;
  network.parent_proxy = ParentProxy{.http = "http://one:1", .https = "http://two:2", .no_proxy = {"*.corp.example"}};
  const Environment environment = {"ALL_PROXY=http://environment:1"};
  const auto proxies = parent_proxies(network, environment);
  ASSERT_TRUE(proxies.has_value()) << proxies.error().message;
  EXPECT_EQ(way(*proxies, "a.org", 80), "http://one:1");
  EXPECT_EQ(way(*proxies, "a.org", 443), "http://two:2");
  EXPECT_EQ(way(*proxies, "x.corp.example", 443), "direct");
  network.parent_proxy = ParentProxy();
  EXPECT_EQ(way(*parent_proxies(network, environment), "a.org", 443), "direct") << "none is an answer too";
  network.parent_proxy = ParentProxy{.http = "", .https = "http://two:2", .no_proxy = {"a b"}};
  EXPECT_THAT(parent_proxies(network, environment).error().message, HasSubstr("network.parentProxy.noProxy: "));
}

TEST(ParentProxy, Credentials) {
  EXPECT_EQ(parse_proxy("http://user:pass@p:3128")->authorization, "Basic dXNlcjpwYXNz");
  EXPECT_EQ(parse_proxy("http://user@p:3128")->authorization, "Basic dXNlcjo=");
  EXPECT_EQ(parse_proxy("http://u%40x:p%3a%2Fw@p:3128")->authorization, "Basic dUB4OnA6L3c=");
  EXPECT_EQ(parse_proxy("http://u:a@b@p:3128")->host.name, "p");
  EXPECT_EQ(parse_proxy("http://p:3128")->authorization, "");
  EXPECT_EQ(describe(*parse_proxy("http://user:pass@p:3128")), "http://p:3128");
  for (const char* url :
       {"http://user:s3cret@", "http://user:s3cret@p:0", "http://user:s3cret@p/path", "http://s3cret%zz@p:1",
        "ftp://user:s3cret@p:1", "user:s3cret", "http://u:s3cret%0d%0aX@p:1", "http://u:s3cret%4@p"}) {
    const auto proxy = parse_proxy(url);
    ASSERT_FALSE(proxy.has_value()) << url;
    EXPECT_THAT(proxy.error().message, Not(HasSubstr("s3cret"))) << url;
  }
}

}  // namespace
}  // namespace hutch::policy
