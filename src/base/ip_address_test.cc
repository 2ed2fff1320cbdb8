// Addresses: what parses, what is written, which IPv4 address is inside, what a range holds.
#include "base/ip_address.h"

#include <gtest/gtest.h>

namespace hutch {
namespace {

TEST(IpAddress, StandardFormsAlone) {
  for (const char* text : {"1.2.3.4", "255.255.255.255", "::1", "2001:db8::1", "fe80::1"}) {
    ASSERT_TRUE(parse_ip(text)) << text;
    EXPECT_EQ(to_string(*parse_ip(text)), text);
  }
  for (const char* text :
       {"", "1.2.3", "1.2.3.04", "0x7f.0.0.1", "127.1", "1.2.3.4.", "fe80::1%lo", "[::1]", ":::", "a"}) {
    EXPECT_FALSE(parse_ip(text)) << text;
  }
  EXPECT_FALSE(parse_ip(std::string_view("1.2.3.4\0", 8)));
}

TEST(IpAddress, TheOneInside) {
  for (const char* text :
       {"::ffff:10.0.0.1", "::10.0.0.1", "::ffff:0:10.0.0.1", "64:ff9b::10.0.0.1", "2002:a00:1::5"}) {
    const auto inside = embedded_v4(*parse_ip(text));
    ASSERT_TRUE(inside) << text;
    EXPECT_EQ(to_string(*inside), "10.0.0.1") << text;
  }
  for (const char* text : {"::", "::1", "2001:db8::1", "10.0.0.1"}) EXPECT_FALSE(embedded_v4(*parse_ip(text))) << text;
}

TEST(IpRange, Holds) {
  const auto ten = parse_ip_range("10.0.0.0/8");
  ASSERT_TRUE(ten);
  EXPECT_TRUE(ten->contains(*parse_ip("10.255.0.1")));
  EXPECT_FALSE(ten->contains(*parse_ip("11.0.0.1")));
  EXPECT_FALSE(ten->contains(*parse_ip("::a00:1")));
  EXPECT_TRUE(parse_ip_range("fe80::/10")->contains(*parse_ip("febf::1")));
  EXPECT_FALSE(parse_ip_range("fe80::/10")->contains(*parse_ip("fec0::1")));
  EXPECT_TRUE(parse_ip_range("0.0.0.0/0")->contains(*parse_ip("9.9.9.9")));
  EXPECT_EQ(parse_ip_range("1.2.3.4")->bits, 32);
  for (const char* text : {"10.0.0.1/8", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/08", "10.0.0.0/-1", "x/8"}) {
    EXPECT_FALSE(parse_ip_range(text)) << text;
  }
}

}  // namespace
}  // namespace hutch
