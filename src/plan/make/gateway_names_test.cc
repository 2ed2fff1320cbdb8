// The addresses that UDP rules have ahead.
#include "plan/make/gateway_names.h"

#include <gtest/gtest.h>

namespace hutch::plan {
namespace {

TEST(UdpCaptures, ANameHasTheSameAddressesAtEveryPort) {
  policy::Network network;
  network.allowed_udp = {"b.example:123", "192.0.2.7:123", "a.example:123", "b.example:124", "[2001:db8::7]:5"};
  const std::vector<UdpCapture> captures = udp_captures(network);
  ASSERT_EQ(captures.size(), 5U);
  EXPECT_EQ(captures[0].addresses, captures[3].addresses);
  EXPECT_NE(captures[0].addresses, captures[2].addresses);
  EXPECT_EQ(captures[0].addresses.size(), 2U);
  EXPECT_EQ(captures[1].addresses, std::vector{*parse_ip("192.0.2.7")});
  EXPECT_EQ(captures[4].addresses, std::vector{*parse_ip("2001:db8::7")});
  for (std::size_t i = 0; i < captures.size(); ++i) EXPECT_EQ(captures[i].gateway_port, kFirstUdpPort + i);
  for (const IpAddress& address : captures[2].addresses) {
    EXPECT_TRUE(is_name_address(address));
    EXPECT_EQ(name_number(address), 2U);
  }
}

TEST(UdpCaptures, TheLastHasAPortBelowTheProxy) { EXPECT_LT(kFirstUdpPort + policy::kOpeningsMax, kProxyPort); }

}  // namespace
}  // namespace hutch::plan
