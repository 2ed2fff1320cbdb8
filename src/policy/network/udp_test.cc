// Entries that let UDP out: what may be written, and what decides.
#include "policy/network/udp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/network/rules.h"

namespace hutch::policy {
namespace {

using testing::HasSubstr;

TEST(Udp, OneHostAndOnePort) {
  EXPECT_EQ(parse_udp("NTP.example.org.:123")->host.name, "ntp.example.org");
  EXPECT_EQ(parse_udp("[2001:db8::7]:123")->host.address, parse_ip("2001:db8::7"));
  EXPECT_EQ(parse_udp("[::ffff:192.0.2.7]:123")->host.address, parse_ip("192.0.2.7"));
  EXPECT_EQ(parse_udp("192.0.2.7:51820")->port, 51820);
}

TEST(Udp, WhatCannotHold) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"*:123", "has a star"},
      {"*.example.org:123", "has a star"},
      {"10.0.0.0/8:123", "is a range"},
      {"ntp.example.org", "has no port"},
      {"2001:db8::7", "has no port"},
      {"ntp.example.org:0", "port"},
      {"ntp.example.org:53", "is a DNS server"},
      {"127.1:123", "loopback"},
      {"[::1]:123", "loopback"},
      {"app.localhost:123", "loopback"},
      {"239.0.0.1:123", "a multicast address"},
      {"255.255.255.255:9", "the broadcast address"},
      {"[ff02::1]:123", "a multicast address"},
      {"0.0.0.0:123", "the unspecified address"},
      {"a b:123", ""},
  };
  for (const auto& [entry, why] : cases) {
    const auto parsed = parse_udp(entry);
    ASSERT_FALSE(parsed.has_value()) << entry;
    EXPECT_THAT(parsed.error().message, HasSubstr(why)) << entry;
  }
}

TEST(Udp, BetweenTheEntries) {
  Network network;
  network.allowed_udp = {"a.example:123", "a.example:124", "192.0.2.7:123"};
  EXPECT_TRUE(check_udp(network).has_value());
  network.allowed_udp.push_back("A.example.:123");
  EXPECT_THAT(check_udp(network).error().message, HasSubstr("is named twice"));
  network.allowed_udp = {"api.example.org:443"};
  network.rules = {
      HttpRule{.host = "*.example.org", .methods = {}, .paths = {}, .set_headers = {}, .remove_headers = {}}};
  EXPECT_THAT(check_udp(network).error().message, HasSubstr("nobody reads them"));
  network.allowed_udp = {"example.org:443"};
  EXPECT_TRUE(check_udp(network).has_value());
  network.host_ports.resize(kOpeningsMax);
  EXPECT_THAT(check_udp(network).error().message, HasSubstr("more than 28"));
}

TEST(Udp, WhoDecides) {
  Network network;
  network.allowed_udp = {"a.example:123", "192.168.0.7:123"};
  const UdpEntry named = *parse_udp("a.example:123");
  EXPECT_EQ(decide_udp(network, named).verdict, HostVerdict::kAllow);
  EXPECT_EQ(decide_udp(network, named).rule, "network.allowedUdp \"a.example:123\"");
  EXPECT_EQ(decide_udp(network, *parse_udp("a.example:124")).verdict, HostVerdict::kDeny);
  EXPECT_EQ(decide_udp(network, *parse_udp("b.a.example:123")).verdict, HostVerdict::kDeny);
  EXPECT_EQ(decide_name(network, named.host).verdict, HostVerdict::kAllow);
  EXPECT_EQ(decide_host(network, named.host, 123).verdict, HostVerdict::kAsk);
  network.denied_domains = {"a.example"};
  EXPECT_EQ(decide_udp(network, named).rule, "network.deniedDomains \"a.example\"");
  EXPECT_EQ(decide_name(network, named.host).verdict, HostVerdict::kDeny);
  network = {};
  network.mode = NetworkMode::kOutbound;
  network.allowed_domains = {"a.example"};
  EXPECT_EQ(decide_udp(network, named).verdict, HostVerdict::kDeny);
  network.allowed_udp = {"a.example:123"};
  network.mode = NetworkMode::kNone;
  EXPECT_EQ(decide_udp(network, named).verdict, HostVerdict::kDeny);
}

TEST(Udp, AddressesAreJudged) {
  Network network;
  network.allowed_udp = {"a.example:123", "192.168.0.7:123"};
  const auto allowed = [&](std::string_view asked, std::string_view address) {
    return decide_udp_address(network, *parse_udp(asked), *parse_ip(address), {}).allowed;
  };
  EXPECT_TRUE(allowed("a.example:123", "203.0.113.1"));
  for (const std::string_view inside : {"127.0.0.1", "192.168.0.7", "169.254.169.254", "::1", "::ffff:10.0.0.1"}) {
    EXPECT_FALSE(allowed("a.example:123", inside)) << inside;
  }
  EXPECT_TRUE(allowed("192.168.0.7:123", "192.168.0.7"));
  const auto listed = [&](std::string_view address) {
    return decide_udp_address(network, *parse_udp("a.example:123"), *parse_ip(address), {}, AddressSource::kHostsFile)
        .allowed;
  };
  EXPECT_TRUE(listed("192.168.0.7"));
  EXPECT_FALSE(listed("127.0.0.1"));
  network.allowed_domains = {"192.168.0.0/16"};
  EXPECT_TRUE(allowed("a.example:123", "192.168.0.7"));
  network.denied_resolved_addresses = {"192.168.0.7"};
  EXPECT_FALSE(allowed("192.168.0.7:123", "192.168.0.7"));
}

}  // namespace
}  // namespace hutch::policy
