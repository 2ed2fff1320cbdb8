// Which machines start again.
#include "server/state/machines.h"

#include <gtest/gtest.h>

namespace hutch::server {
namespace {

using std::chrono::minutes;
const Crashes::Clock::time_point kNow{};

TEST(Crashes, OneThatRanIsStartedAgain) {
  Crashes crashes;
  EXPECT_FALSE(crashes.take("vera", "starting", kNow));
  EXPECT_FALSE(crashes.take("vera", "running", kNow));
  EXPECT_TRUE(crashes.take("vera", "error", kNow));
}

TEST(Crashes, OneThatDidNotStartIsNot) {
  Crashes crashes;
  crashes.take("vera", "starting", kNow);
  EXPECT_FALSE(crashes.take("vera", "error", kNow));
}

TEST(Crashes, OneThatWasStoppedIsNot) {
  Crashes crashes;
  crashes.take("vera", "running", kNow);
  EXPECT_FALSE(crashes.take("vera", "stopping", kNow));
  EXPECT_FALSE(crashes.take("vera", "stopped", kNow));
  EXPECT_FALSE(crashes.take("vera", "error", kNow));
}

TEST(Crashes, ASecondTimeItTakesAWhile) {
  Crashes crashes;
  crashes.take("vera", "running", kNow);
  EXPECT_TRUE(crashes.take("vera", "error", kNow));
  crashes.take("vera", "running", kNow);
  EXPECT_FALSE(crashes.take("vera", "error", kNow + minutes(9)));
  crashes.take("vera", "running", kNow + minutes(9));
  EXPECT_TRUE(crashes.take("vera", "error", kNow + minutes(11)));
}

TEST(Crashes, EachIsCountedForItself) {
  Crashes crashes;
  crashes.take("vera", "running", kNow);
  crashes.take("mira", "running", kNow);
  EXPECT_TRUE(crashes.take("vera", "error", kNow));
  EXPECT_TRUE(crashes.take("mira", "error", kNow));
  // One made anew under a name that was used has crashed never.
  crashes.take("vera", "removed", kNow);
  crashes.take("vera", "running", kNow);
  EXPECT_TRUE(crashes.take("vera", "error", kNow));
}

}  // namespace
}  // namespace hutch::server
