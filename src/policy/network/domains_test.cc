// Tests of entries that name hosts.
#include "policy/network/domains.h"

#include <gtest/gtest.h>

namespace hutch::policy {
namespace {

TEST(DomainsTest, Allowed) {
  for (const char* right : {"example.com",
                            "*.example.com",
                            "localhost",
                            "example.com:443",
                            "[::1]",
                            "[::1]:80",
                            "127.0.0.1:8080",
                            "a-b.example.co.uk",
                            "10.0.0.0/8",
                            "10.0.0.0/8:443",
                            "[fd00::]/8",
                            "fd00::/8",
                            "[fd00::/8]",
                            "[fd00::]/8:22",
                            "[fd00::/8]:22",
                            "bücher.example",
                            "*.bücher.example:443",
                            "127.1",
                            "0x7f.1:80",
                            "Example.COM.",
                            "10.0.0.1/32"}) {
    const auto status = check_domain(right, DomainList::kAllowed);
    EXPECT_TRUE(status.has_value()) << right << ": " << status.error().message;
  }
  for (const char* wrong : {"",
                            "*",
                            "*.com",
                            "*.",
                            "*com",
                            "a.*.com",
                            "a*.com",
                            "https://example.com",
                            "example.com/x",
                            "a..b",
                            "-a.com",
                            "a_b c.com",
                            "example.com:0",
                            "example.com:70000",
                            "example.com:",
                            "*:443",
                            "[::1",
                            "[xyz]",
                            "[]",
                            "ex\nample.com",
                            "*.*.com",
                            "*.0.0.1",
                            "*.127.0.0.1",
                            "*.[::1]",
                            "256.1.1.1",
                            "::1",
                            "::1:80",
                            "10.0.0.0/33",
                            "10.0.0.1/8",
                            "10.0.0.0/",
                            "10.0.0.0/8x",
                            "[10.0.0.0]/8",
                            "fd00::/129",
                            "fd00::/8:443",
                            "0.0.0.0/0",
                            "::/0",
                            "::ffff:0:0/96",
                            "010.0.0.0/8",
                            "10/8",
                            "fe80::1%eth0/64",
                            "[fe80::1%eth0]"}) {
    EXPECT_FALSE(check_domain(wrong, DomainList::kAllowed).has_value()) << wrong;
  }
}

TEST(DomainsTest, DeniedMayNameAll) {
  for (const char* right : {"*", "*:25", "*.com", "0.0.0.0/0", "[::]/0"}) {
    EXPECT_TRUE(check_domain(right, DomainList::kDenied).has_value()) << right;
  }
  EXPECT_FALSE(check_domain("*.0.0.1", DomainList::kDenied).has_value());
}

TEST(DomainsTest, Messages) {
  const auto message = [](std::string_view entry) { return check_domain(entry, DomainList::kAllowed).error().message; };
  EXPECT_EQ(message("*"), "\"*\": would allow every host; name them, or say network \"outbound\"");
  EXPECT_EQ(message("*.com"), "\"*.com\": is too broad: at least two labels have to follow \"*.\"");
  EXPECT_EQ(message("a b"), "\"a b\": a host name holds no blanks and no control characters");
  EXPECT_EQ(message("::1"), "\"::1\": an IPv6 address is written in brackets: [::1] or [::1]:443");
}

struct DomainCase {
  std::string_view entry;
  std::string_view host;
  int port;
  bool matches;
};

TEST(DomainsTest, Match) {
  static constexpr DomainCase kCases[] = {
      {"example.com", "EXAMPLE.com.", 443, true},
      {"EXAMPLE.com.", "example.com", 443, true},
      {"example.com", "www.example.com", 443, false},
      {"*.example.com", "a.b.example.com", 443, true},
      {"*.example.com", "example.com", 443, false},
      {"*.example.com", "badexample.com", 443, false},
      {"*.example.com", ".example.com", 443, false},
      {"example.com:8080", "example.com", 8080, true},
      {"example.com:8080", "example.com", 443, false},
      {"*:25", "any.host", 25, true},
      {"*:25", "any.host", 443, false},
      {"*", "10.0.0.1", 443, true},
      {"*", "::1", 443, true},
      {"bücher.example", "xn--bcher-kva.example", 443, true},
      {"*.xn--bcher-kva.example", "www.BÜCHER.example", 443, true},
      {"127.1", "127.0.0.1", 80, true},
      {"127.0.0.1", "2130706433", 80, true},
      {"[::1]", "0:0::1", 80, true},
      {"[::1]:80", "::1", 81, false},
      {"127.0.0.1", "::ffff:127.0.0.1", 80, true},
      {"[::ffff:127.0.0.1]", "127.0.0.1", 80, true},
      {"10.0.0.0/8", "10.200.0.1", 80, true},
      {"10.0.0.0/8:443", "10.200.0.1", 80, false},
      {"10.0.0.0/8", "11.0.0.1", 80, false},
      {"10.0.0.0/8", "host.example", 80, false},
      {"fd00::/8", "fd12::1", 80, true},
      {"fd00::/8", "10.0.0.1", 80, false},
      {"::ffff:10.0.0.0/104", "10.1.1.1", 80, true},
      {"localhost", "127.0.0.1", 80, false},
      {"localhost", "LOCALHOST.", 80, true},
      {"not an entry", "not an entry", 80, false},
      {"example.com", "exa mple.com", 80, false},
  };
  for (const DomainCase& one : kCases) {
    EXPECT_EQ(matches_domain(one.entry, one.host, one.port), one.matches) << one.entry << " " << one.host;
  }
}

TEST(DomainsTest, RangesHoldWhatIsInside) {
  const auto holds = [](std::string_view range, std::string_view address) {
    return range_holds(*parse_address_range(range), *parse_ip(address));
  };
  EXPECT_TRUE(holds("10.0.0.0/8", "10.1.2.3"));
  EXPECT_TRUE(holds("10.0.0.0/8", "::ffff:10.1.2.3"));
  EXPECT_TRUE(holds("10.0.0.0/8", "64:ff9b::a01:203"));
  EXPECT_TRUE(holds("10.0.0.0/8", "2002:a01:203::1"));
  EXPECT_FALSE(holds("10.0.0.0/8", "2002:b01:203::1"));
  EXPECT_TRUE(holds("[2001:db8::]/32", "2001:db8::1"));
  EXPECT_TRUE(holds("::ffff:10.0.0.0/104", "10.1.2.3"));
  EXPECT_FALSE(parse_address_range("example.com").has_value());
  EXPECT_FALSE(parse_address_range("[10.0.0.0]/8").has_value());
  EXPECT_FALSE(parse_address_range("[fd00::5]:443").has_value()) << "no address of its own";
}

}  // namespace
}  // namespace hutch::policy
