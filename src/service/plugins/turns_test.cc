// Waiting for a turn ends by itself, and when it is told to.
#include "service/plugins/turns.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace hutch::service {

using std::chrono::milliseconds;

TEST(PluginTurns, OneTurnOfEachAgent) {
  PluginTurns turns;
  const auto ada = turns.take("ada", milliseconds(0), {});
  ASSERT_TRUE(ada);
  EXPECT_TRUE(turns.take("bob", milliseconds(0), {}));
  const auto again = turns.take("ada", milliseconds(20), {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::kConflict);
  EXPECT_NE(again.error().message.find("ada"), std::string::npos);
}

TEST(PluginTurns, EndOfOneIsTheTurnOfTheNext) {
  PluginTurns turns;
  auto first = turns.take("ada", milliseconds(0), {});
  ASSERT_TRUE(first);
  std::thread next([&] { EXPECT_TRUE(turns.take("ada", std::chrono::seconds(60), {})); });
  first = fail(Error::invalid("over"));
  next.join();
}

TEST(PluginTurns, StopEndsTheWait) {
  PluginTurns turns;
  const auto first = turns.take("ada", milliseconds(0), {});
  std::stop_source stop;
  std::thread waiting([&] {
    const auto second = turns.take("ada", std::chrono::hours(1), stop.get_token());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::kTimeout);
  });
  stop.request_stop();
  waiting.join();
}

}  // namespace hutch::service
