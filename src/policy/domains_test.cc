// Tests of host names in a policy.
#include "policy/domains.h"

#include <gtest/gtest.h>

namespace hutch::policy {
namespace {

TEST(DomainsTest, Allowed) {
  for (const char* right : {"example.com", "*.example.com", "localhost", "example.com:443", "[::1]", "[::1]:80",
                            "127.0.0.1:8080", "a-b.example.co.uk"}) {
    EXPECT_TRUE(check_domain(right, DomainList::kAllowed).has_value()) << right;
  }
  for (const char* wrong :
       {"", "*", "*.com", "https://example.com", "example.com/x", "a..b", "-a.com", "a_b c.com", "example.com:0",
        "example.com:70000", "example.com:", "*:443", "[::1", "[xyz]", "[]", "ex\nample.com", "*.*.com"}) {
    EXPECT_FALSE(check_domain(wrong, DomainList::kAllowed).has_value()) << wrong;
  }
}

TEST(DomainsTest, DeniedMayNameAll) {
  EXPECT_TRUE(check_domain("*", DomainList::kDenied).has_value());
  EXPECT_TRUE(check_domain("*:25", DomainList::kDenied).has_value());
}

TEST(DomainsTest, Match) {
  EXPECT_TRUE(matches_domain("example.com", "EXAMPLE.com.", 443));
  EXPECT_FALSE(matches_domain("example.com", "www.example.com", 443));
  EXPECT_TRUE(matches_domain("*.example.com", "a.b.example.com", 443));
  EXPECT_FALSE(matches_domain("*.example.com", "example.com", 443)) << "strict sub-domains";
  EXPECT_FALSE(matches_domain("*.example.com", "badexample.com", 443));
  EXPECT_TRUE(matches_domain("example.com:8080", "example.com", 8080));
  EXPECT_FALSE(matches_domain("example.com:8080", "example.com", 443));
  EXPECT_TRUE(matches_domain("*:25", "any.host", 25));
  EXPECT_FALSE(matches_domain("*:25", "any.host", 443));
}

TEST(DomainsTest, Decide) {
  Network network{
      .mode = NetworkMode::kRules, .allowed_domains = {"*.example.com"}, .denied_domains = {"bad.example.com"}};
  EXPECT_TRUE(decide_host_name(network, "a.example.com").allowed);
  EXPECT_FALSE(decide_host_name(network, "bad.example.com:443").allowed);
  EXPECT_EQ(decide_host_name(network, "bad.example.com").rule, "network.deniedDomains \"bad.example.com\"");
  EXPECT_FALSE(decide_host_name(network, "other.org").allowed);
  network.mode = NetworkMode::kOutbound;
  EXPECT_TRUE(decide_host_name(network, "other.org").allowed);
  network.mode = NetworkMode::kNone;
  EXPECT_FALSE(decide_host_name(network, "a.example.com").allowed);
}

}  // namespace
}  // namespace hutch::policy
