// The tests of who may have how many processes followed.
#include "server/e2b/process_shares.h"

#include <gtest/gtest.h>

#include <vector>

namespace hutch::server {
namespace {

TEST(RoomOf, AKeyHasHalfAndItsOwnerAll) {
  EXPECT_EQ(room_of("mal", {.own = 1, .taken = 3, .most = 4}), Room::kFree);
  EXPECT_EQ(room_of("mal", {.own = 2, .taken = 2, .most = 4}), Room::kKeyHasItsMost);
  EXPECT_EQ(room_of("bob", {.own = 0, .taken = 4, .most = 4}), Room::kAllTaken);
  EXPECT_EQ(room_of("", {.own = 3, .taken = 3, .most = 4}), Room::kFree);
  EXPECT_EQ(room_of("", {.own = 4, .taken = 4, .most = 4}), Room::kKeyHasItsMost);
}

TEST(ProcessShares, AKeyHasHalfAndItsOwnerAll) {
  ProcessShares shares(4);
  std::vector<std::shared_ptr<void>> held;
  for (int i = 0; i < 2; ++i) held.push_back(shares.take("mal").value());
  const auto third = shares.take("mal");
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().message, "this key has 2 processes already, which is the most: end some of them");
  for (int i = 0; i < 2; ++i) held.push_back(shares.take("").value());
  EXPECT_EQ(shares.take("bob").error().message, "there are 4 processes already, which is the most: end some of them");
  held.erase(held.begin());
  EXPECT_TRUE(shares.take("bob")) << "and it is given back at once";
  EXPECT_TRUE(shares.take("mal"));
  held.clear();
  for (int i = 0; i < 4; ++i) held.push_back(shares.take("").value());
  EXPECT_FALSE(shares.take(""));
}

TEST(ProcessShares, WhatIsHeldMayOutliveIt) {
  std::shared_ptr<void> held;
  {
    ProcessShares shares(1);
    held = shares.take("").value();
  }
  held.reset();
}

}  // namespace
}  // namespace hutch::server
