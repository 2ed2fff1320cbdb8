// A budget that several share.
#include "inspect/budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace hutch::inspect {
namespace {

TEST(Budget, NoMoreThanThereIs) {
  Budget budget(100);
  Share first(budget);
  EXPECT_TRUE(first.take(60));
  {
    Share second(budget);
    EXPECT_FALSE(second.take(41));
    EXPECT_TRUE(second.take(40));
    EXPECT_FALSE(first.take(1));
  }
  EXPECT_TRUE(first.take(40));
  first.give_back();
  EXPECT_TRUE(first.take(100));
}

TEST(Budget, AllOfItIsThereAfterManyThreads) {
  Budget budget(1000);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 10'000; ++k) {
        Share share(budget);
        (void)share.take(300);
        (void)share.take(300);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(budget.take(1000));
  EXPECT_FALSE(budget.take(1));
}

}  // namespace
}  // namespace hutch::inspect
