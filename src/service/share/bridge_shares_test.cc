// What an agent's connections to the bridge have together.
#include "service/share/bridge_shares.h"

#include <gtest/gtest.h>

namespace hutch::service {
namespace {

TEST(BridgeSharesTest, WhatIsTakenIsGivenBack) {
  BridgeShares shares;
  auto one = shares.take("a", "bytes", 6, 10);
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(shares.take("a", "bytes", 5, 10), nullptr);
  EXPECT_NE(shares.take("b", "bytes", 10, 10), nullptr) << "another's";
  EXPECT_NE(shares.take("a", "connections", 10, 10), nullptr) << "of another kind";
  EXPECT_EQ(shares.take("a", "connections", 11, 10), nullptr);
  const auto two = shares.take("a", "bytes", 4, 10);
  ASSERT_NE(two, nullptr);
  one.reset();
  EXPECT_EQ(shares.take("a", "bytes", 7, 10), nullptr);
  EXPECT_NE(shares.take("a", "bytes", 6, 10), nullptr);
}

TEST(BridgeSharesTest, UsesAreCountedWithinASpan) {
  BridgeShares shares;
  const BridgeShares::Rate rate{2, std::chrono::seconds(60)};
  const BridgeShares::Clock::time_point begun{};
  EXPECT_TRUE(shares.count("a", "log", rate, begun));
  EXPECT_TRUE(shares.count("a", "log", rate, begun));
  EXPECT_FALSE(shares.count("a", "log", rate, begun + std::chrono::seconds(59)));
  EXPECT_TRUE(shares.count("b", "log", rate, begun));
  EXPECT_TRUE(shares.count("a", "log", rate, begun + std::chrono::seconds(60)));
  EXPECT_TRUE(shares.count("a", "log", rate, begun + std::chrono::seconds(60)));
  shares.forget("a");
  EXPECT_TRUE(shares.count("a", "log", rate, begun + std::chrono::seconds(60)));
}

}  // namespace
}  // namespace hutch::service
