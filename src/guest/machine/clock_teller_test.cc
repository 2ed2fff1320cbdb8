// The tests of when a machine is told what time it is.
#include "guest/machine/clock_teller.h"

#include <gtest/gtest.h>

namespace hutch::guest {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr ClockTeller::Now kStart{1'800'000'000 * kSecond, 500 * kSecond};

ClockTeller::Now after(double wall, double monotonic) {
  return {kStart.wall + static_cast<std::int64_t>(wall * static_cast<double>(kSecond)),
          kStart.monotonic + static_cast<std::int64_t>(monotonic * static_cast<double>(kSecond))};
}

ClockTeller told_at_start() {
  ClockTeller teller;
  teller.tell(kStart);
  EXPECT_TRUE(teller.hear(kStart));
  return teller;
}

TEST(ClockTeller, TellsWhenTheWallClockWentAnotherWay) {
  const ClockTeller teller = told_at_start();
  EXPECT_FALSE(teller.is_due(kStart));
  EXPECT_FALSE(teller.is_due(after(9, 9)));
  EXPECT_FALSE(teller.is_due(after(9.05, 9))) << "as clocks are adjusted";
  EXPECT_TRUE(teller.is_due(after(3600.5, 0.5))) << "suspended for an hour";
  EXPECT_TRUE(teller.is_due(after(-60, 1))) << "set back";
  EXPECT_TRUE(teller.is_due(after(10, 10))) << "the machine alone may have stood still";
}

TEST(ClockTeller, TellsAnewWhatWasHeardLate) {
  ClockTeller teller;
  EXPECT_TRUE(teller.is_due(kStart));
  EXPECT_FALSE(teller.hear(kStart)) << "it was told nothing";
  teller = told_at_start();
  teller.tell(after(10, 10));
  EXPECT_FALSE(teller.is_due(after(60, 60))) << "one that does not hear is not told more";
  EXPECT_TRUE(teller.hear(after(10.1, 10.1)));
  EXPECT_FALSE(teller.hear(after(10.1, 10.1)));
  EXPECT_FALSE(teller.is_due(after(11, 11)));
  teller.tell(after(20, 20));
  EXPECT_TRUE(teller.hear(after(80, 80)));
  EXPECT_TRUE(teller.is_due(after(80, 80))) << "what it heard was a minute old";
  teller.tell(after(80, 80));
  EXPECT_TRUE(teller.hear(after(3680, 80.1))) << "suspended meanwhile";
  EXPECT_TRUE(teller.is_due(after(3680, 80.1)));
}

TEST(ClockTeller, SetsAClockThatIsWrong) {
  const std::int64_t told = kStart.wall;
  EXPECT_EQ(clock_to_set(told, told), std::nullopt);
  EXPECT_EQ(clock_to_set(told - kSecond / 20, told), std::nullopt);
  EXPECT_EQ(clock_to_set(told - kSecond, told), told);
  EXPECT_EQ(clock_to_set(told + kSecond, told), std::nullopt) << "it was a second on its way";
  EXPECT_EQ(clock_to_set(told + 60 * kSecond, told), told);
}

}  // namespace
}  // namespace hutch::guest
