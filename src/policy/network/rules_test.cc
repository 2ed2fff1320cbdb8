// Tables of decisions about hosts and addresses.
#include "policy/network/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/network/address_kinds.h"

namespace hutch::policy {
namespace {

using enum HostVerdict;
using testing::HasSubstr;

Host host(std::string_view text) { return canonical_host(text).value(); }
HostVerdict verdict(const Network& network, std::string_view text, int port = 443) {
  return decide_host(network, host(text), port).verdict;
}
HostVerdict name_verdict(const Network& network, std::string_view text) {
  return decide_name(network, host(text)).verdict;
}
HttpRule rule(std::string host) {
  HttpRule made;
  made.host = std::move(host);
  return made;
}

TEST(NetworkRules, Order) {
  Network network;
  network.allowed_domains = {"*.example.com", "127.0.0.1:80"};
  network.denied_domains = {"bad.example.com", "*:25"};
  network.denied_reasons = {{"bad.example.com", "is bad"}};
  network.rules = {rule("api.example.org:443")};
  EXPECT_EQ(verdict(network, "a.example.com"), kAllow);
  EXPECT_EQ(verdict(network, "A.Example.COM."), kAllow);
  EXPECT_EQ(verdict(network, "example.com"), kAsk);
  EXPECT_EQ(verdict(network, "bad.example.com"), kDeny) << "a deny comes first";
  EXPECT_EQ(verdict(network, "a.example.com", 25), kDeny);
  EXPECT_EQ(verdict(network, "127.0.0.1", 80), kAllow);
  EXPECT_EQ(verdict(network, "127.0.0.1", 81), kAsk);
  EXPECT_EQ(verdict(network, "api.example.org"), kAllow);
  EXPECT_EQ(verdict(network, "api.example.org", 80), kAsk);
  EXPECT_EQ(verdict(network, "other.org"), kAsk);
  network.asking = Asking::kNever;
  EXPECT_EQ(verdict(network, "other.org"), kDeny);
  EXPECT_EQ(decide_host(network, host("other.org"), 443).rule, "network.strictAllowlist");
  network.asking = Asking::kAllowed;
  network.connect_questions = Asking::kNever;
  EXPECT_EQ(decide_host(network, host("other.org"), 443).rule, "ask.connect \"deny\"");
  network.mode = NetworkMode::kOutbound;
  EXPECT_EQ(verdict(network, "other.org"), kAllow);
  EXPECT_EQ(verdict(network, "bad.example.com"), kDeny);
  network.mode = NetworkMode::kNone;
  EXPECT_EQ(verdict(network, "a.example.com"), kDeny);
  EXPECT_EQ(decide_host(network, host("a.example.com"), 443).rule, "network \"none\"");
}

TEST(NetworkRules, RulesAndReasons) {
  Network network;
  network.allowed_domains = {"*.example.com"};
  network.denied_domains = {"bad.example.com", "worse.example.com"};
  network.denied_reasons = {{"bad.example.com", "use good.example.com"}};
  network.rules = {rule("api.example.org")};
  HostDecision decision = decide_host(network, host("bad.example.com"), 443);
  EXPECT_EQ(decision.rule, "network.deniedDomains \"bad.example.com\"");
  EXPECT_EQ(decision.why, "use good.example.com");
  EXPECT_EQ(decide_host(network, host("worse.example.com"), 443).why, "an entry denies it");
  EXPECT_EQ(decide_host(network, host("x.example.com"), 443).rule, "network.allowedDomains \"*.example.com\"");
  EXPECT_EQ(decide_host(network, host("api.example.org"), 443).rule, "network.rules \"api.example.org\"");
  decision = decide_host(Network(), host("x.org"), 443);
  EXPECT_EQ(decision.verdict, kAsk) << "an empty list: nothing without an answer";
  EXPECT_EQ(decision.rule, "default");
}

TEST(NetworkRules, StarsAndAddresses) {
  Network network;
  network.mode = NetworkMode::kOutbound;
  network.denied_domains = {"*"};
  for (const char* text : {"example.com", "10.0.0.1", "8.8.8.8", "::1"}) EXPECT_EQ(verdict(network, text), kDeny);
  network.denied_domains = {"8.8.8.8"};
  for (const char* text :
       {"8.8.8.8", "0x08080808", "134744072", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::"}) {
    EXPECT_EQ(verdict(network, text), kDeny) << text;
  }
  network = Network();
  network.allowed_domains = {"8.8.8.8", "*.0.0.1"};
  EXPECT_EQ(verdict(network, "8.8.8.8"), kAllow);
  EXPECT_EQ(verdict(network, "64:ff9b::808:808"), kAsk) << "an allow names one address";
  EXPECT_EQ(verdict(network, "127.0.0.1"), kAsk) << "no star matches an address";
}

// What such an address is, is no reason against it: the person was asked about it as such. A name is another matter.
TEST(NetworkRules, AnsweredAddresses) {
  Network network;
  HostDecision decision = decide_host(network, host("192.168.7.7"), 80);
  EXPECT_EQ(decision.verdict, kAsk);
  EXPECT_EQ(decision.why, "it is a private address, and no entry of network.allowedDomains names it");
  EXPECT_FALSE(decide_address(network, host("192.168.7.7"), *parse_ip("192.168.7.7"), 80, {}).allowed);
  EXPECT_TRUE(decide_answered(network, *parse_ip("192.168.7.7"), 80).allowed);
  network.denied_resolved_addresses = {"192.168.0.0/16"};
  decision = decide_host(network, host("192.168.7.7"), 80);
  EXPECT_EQ(decision.verdict, kDeny) << "an answer would not open it";
  EXPECT_EQ(decision.rule, "network.deniedResolvedAddresses \"192.168.0.0/16\"");
  EXPECT_FALSE(decide_answered(network, *parse_ip("192.168.7.7"), 80).allowed);
  network = Network();
  network.denied_domains = {"10.0.0.0/8"};
  EXPECT_FALSE(decide_answered(network, *parse_ip("10.1.2.3"), 80).allowed);
  network = Network();
  network.mode = NetworkMode::kNone;
  EXPECT_FALSE(decide_answered(network, *parse_ip("8.8.8.8"), 80).allowed);
}

// The reader refuses such entries; should one come another way, a deny list does not become weaker by it.
TEST(NetworkRules, UnreadableEntries) {
  Network network;
  network.allowed_domains = {"*", "exa mple.com"};
  EXPECT_EQ(verdict(network, "x.org"), kAsk);
  network.denied_domains = {"exa mple.com"};
  EXPECT_EQ(verdict(network, "x.org"), kDeny);
}

TEST(NetworkRules, Names) {
  Network network;
  network.allowed_domains = {"a.org:443", "*.b.org"};
  network.denied_domains = {"*:25", "x.b.org", "y.b.org:80"};
  EXPECT_EQ(name_verdict(network, "a.org"), kAllow) << "some port is allowed";
  EXPECT_EQ(name_verdict(network, "c.b.org"), kAllow);
  EXPECT_EQ(name_verdict(network, "x.b.org"), kDeny);
  EXPECT_EQ(name_verdict(network, "y.b.org"), kAllow) << "but for one port";
  EXPECT_EQ(name_verdict(network, "z.org"), kAsk);
  network.asking = Asking::kNever;
  EXPECT_EQ(name_verdict(network, "z.org"), kDeny);
  network.mode = NetworkMode::kNone;
  EXPECT_EQ(name_verdict(network, "a.org"), kDeny);
}

class AddressTest : public testing::Test {
 protected:
  AddressTest() { network_.mode = NetworkMode::kOutbound; }
  AddressDecision decide(std::string_view resolved, std::string_view asked = "name.example", int port = 443) {
    return decide_address(network_, host(asked), parse_ip(resolved).value(), port, own_);
  }
  bool dials(std::string_view resolved, std::string_view asked = "name.example", int port = 443) {
    return decide(resolved, asked, port).allowed;
  }

  Network network_;
  std::vector<IpAddress> own_ = {*parse_ip("203.0.113.7"), *parse_ip("2001:db8:7::1"), *parse_ip("127.0.0.1")};
};

TEST_F(AddressTest, PrivateOnesOfTheHostsFileByTheNameOfTheHost) {
  own_.push_back(*parse_ip("192.168.7.1"));
  const auto listed = [&](std::string_view resolved, std::string_view asked) {
    return decide_address(network_, host(asked), *parse_ip(resolved), 443, own_, AddressSource::kHostsFile).allowed;
  };
  EXPECT_FALSE(listed("192.168.7.7", "git.corp")) << "outbound names no host";
  network_.allowed_domains = {"git.corp", "*.star.corp", "ssh.corp:22"};
  EXPECT_TRUE(listed("192.168.7.7", "git.corp"));
  EXPECT_TRUE(listed("fd00::7", "git.corp"));
  EXPECT_FALSE(dials("192.168.7.7", "git.corp")) << "a DNS is anybody's word";
  EXPECT_FALSE(listed("192.168.7.7", "a.star.corp"));
  EXPECT_FALSE(listed("192.168.7.7", "ssh.corp")) << "at another port";
  for (const char* text : {"127.0.0.1", "::1", "169.254.169.254", "169.254.0.1", "192.168.7.1", "203.0.113.7",
                           "0.0.0.0", "fd00:ec2::254", "100.100.100.200", "::ffff:192.168.7.1"}) {
    EXPECT_FALSE(listed(text, "git.corp")) << text;
  }
  network_.denied_resolved_addresses = {"192.168.0.0/16"};
  EXPECT_FALSE(listed("192.168.7.7", "git.corp"));
}

TEST_F(AddressTest, PublicOnes) {
  for (const char* text : {"8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.0", "100.63.255.255", "100.128.0.0",
                           "192.167.1.1", "198.17.255.255", "198.20.0.0", "11.0.0.1", "203.0.113.8", "2606:4700::1",
                           "2001:4860:4860::8888", "64:ff9b::808:808", "2002:808:808::1", "::ffff:8.8.8.8"}) {
    EXPECT_TRUE(dials(text)) << text << ": " << decide(text).why;
  }
}

TEST_F(AddressTest, SpecialOnes) {
  static constexpr std::pair<const char*, const char*> kCases[] = {
      {"127.0.0.1", "loopback"},       {"127.255.255.254", "loopback"},  {"::1", "loopback"},
      {"0.0.0.0", "unspecified"},      {"0.1.2.3", "this host"},         {"::", "unspecified"},
      {"10.0.0.1", "private"},         {"172.16.0.1", "private"},        {"172.31.255.255", "private"},
      {"192.168.1.1", "private"},      {"100.64.0.1", "private"},        {"fd00::1", "private"},
      {"fc00::1", "private"},          {"fec0::1", "private"},           {"169.254.0.1", "link-local"},
      {"fe80::1", "link-local"},       {"224.0.0.1", "multicast"},       {"239.255.255.250", "multicast"},
      {"ff02::1", "multicast"},        {"255.255.255.255", "broadcast"}, {"240.0.0.1", "reserved"},
      {"198.18.0.1", "reserved"},      {"192.0.0.1", "reserved"},        {"64:ff9b:1::1", "reserved"},
      {"2001:0:1::1", "reserved"},     {"169.254.169.254", "metadata"},  {"fd00:ec2::254", "metadata"},
      {"100.100.100.200", "metadata"}, {"168.63.129.16", "metadata"},    {"203.0.113.7", "this host"},
      {"2001:db8:7::1", "this host"},
  };
  for (const auto& [text, kind] : kCases) {
    EXPECT_FALSE(dials(text)) << text;
    EXPECT_THAT(decide(text).why, HasSubstr(kind)) << text;
  }
}

TEST_F(AddressTest, V4InsideV6IsJudgedAsThatV4) {
  for (const char* v4 : {"127.0.0.1", "10.0.0.1", "169.254.169.254", "203.0.113.7", "0.0.0.0", "192.168.0.1"}) {
    const std::uint32_t number = parse_ip(v4)->v4_host_order();
    char groups[16];
    std::snprintf(groups, sizeof groups, "%x:%x", number >> 16, number & 0xffff);
    for (const std::string& text : {std::string("::ffff:") + groups, std::string("64:ff9b::") + groups,
                                    std::string("2002:") + groups + "::1", std::string("::ffff:0:") + groups}) {
      EXPECT_FALSE(dials(text)) << text;
      EXPECT_FALSE(dials(text, text)) << text << " asked for as it is";
    }
  }
  EXPECT_FALSE(dials("::127.0.0.1"));
}

TEST_F(AddressTest, EntriesOfAddressesExempt) {
  network_.mode = NetworkMode::kRules;
  network_.allowed_domains = {"db.corp.example", "10.1.0.0/16", "192.168.1.1:22", "203.0.113.7", "[fd12::]/16"};
  EXPECT_TRUE(dials("10.1.2.3", "db.corp.example"));
  EXPECT_TRUE(dials("::ffff:10.1.2.3", "db.corp.example"));
  EXPECT_FALSE(dials("10.2.0.1", "db.corp.example")) << "a name alone exempts nothing";
  EXPECT_TRUE(dials("192.168.1.1", "192.168.1.1", 22));
  EXPECT_FALSE(dials("192.168.1.1", "192.168.1.1", 443)) << "of another port";
  EXPECT_TRUE(dials("203.0.113.7", "203.0.113.7"));
  EXPECT_TRUE(dials("fd12::5", "fd12::5"));
  EXPECT_FALSE(dials("fd13::5", "fd13::5"));
  network_.rules = {rule("10.9.0.1")};
  EXPECT_TRUE(dials("10.9.0.1", "10.9.0.1"));
}

TEST_F(AddressTest, LocalhostExemptsLoopbackForItself) {
  network_.allowed_domains = {"localhost:8080", "rebinder.example"};
  EXPECT_TRUE(dials("127.0.0.1", "localhost", 8080));
  EXPECT_TRUE(dials("::1", "localhost", 8080));
  EXPECT_FALSE(dials("127.0.0.1", "localhost", 8081));
  EXPECT_FALSE(dials("10.0.0.1", "localhost", 8080));
  EXPECT_FALSE(dials("127.0.0.1", "rebinder.example", 8080));
  EXPECT_FALSE(dials("127.0.0.1", "127.0.0.1", 8080));
}

TEST_F(AddressTest, DeniesWin) {
  network_.allowed_domains = {"name.example", "10.0.0.0/8", "1.2.3.4"};
  network_.denied_resolved_addresses = {"10.1.0.0/16", "2606:4700::/32", "8.8.4.4"};
  network_.denied_domains = {"9.9.9.9", "1.2.3.4:25", "[2620:fe::]/48"};
  EXPECT_TRUE(dials("10.0.0.1"));
  EXPECT_FALSE(dials("10.1.0.1"));
  EXPECT_THAT(decide("10.1.0.1").why, HasSubstr("10.1.0.0/16"));
  EXPECT_FALSE(dials("2606:4700::1"));
  EXPECT_FALSE(dials("8.8.4.4"));
  EXPECT_FALSE(dials("64:ff9b::808:404"));
  EXPECT_TRUE(dials("8.8.8.8"));
  EXPECT_FALSE(dials("9.9.9.9"));
  EXPECT_FALSE(dials("::ffff:9.9.9.9"));
  EXPECT_FALSE(dials("2620:fe::fe"));
  EXPECT_TRUE(dials("1.2.3.4"));
  EXPECT_FALSE(dials("1.2.3.4", "name.example", 25));
  network_.mode = NetworkMode::kNone;
  EXPECT_FALSE(dials("8.8.8.8"));
}

TEST(AddressKinds, Loopback) {
  EXPECT_TRUE(is_loopback(*parse_ip("127.9.9.9")));
  EXPECT_TRUE(is_loopback(*parse_ip("::ffff:127.0.0.1")));
  EXPECT_TRUE(is_loopback(*parse_ip("::1")));
  EXPECT_FALSE(is_loopback(*parse_ip("128.0.0.1")));
  EXPECT_EQ(special_kind(*parse_ip("8.8.8.8")), "");
}

}  // namespace
}  // namespace hutch::policy
