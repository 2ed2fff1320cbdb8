// What is tried again.
#include "service/plugins/repairs.h"

#include <gtest/gtest.h>

namespace hutch::service {
namespace {

struct Tries {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, int> of;
  int count(const std::string& agent) {
    const std::scoped_lock lock(mutex);
    changed.notify_all();
    return ++of[agent];
  }
  bool await(const std::string& agent, int tries) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(20), [&] { return of[agent] >= tries; });
  }
};

TEST(PluginRepairsTest, IsTriedUntilItIsDoneAndNotAgain) {
  Tries tries;
  PluginRepairs repairs([&](const std::string& agent, const std::stop_token&) { return tries.count(agent) == 3; },
                        std::chrono::milliseconds(1));
  repairs.add("a");
  ASSERT_TRUE(tries.await("a", 3));
  repairs.add("b");
  ASSERT_TRUE(tries.await("b", 3));
  repairs.add("c");
  ASSERT_TRUE(tries.await("c", 3)) << "by then another try of the first would have come";
  EXPECT_EQ(tries.count("a"), 4) << "by this line alone";
}

TEST(PluginRepairsTest, ItsEndWaitsForNoTime) {
  Tries tries;
  {
    PluginRepairs repairs([&](const std::string& agent, const std::stop_token&) { return tries.count(agent) > 0; },
                          std::chrono::hours(1));
    repairs.add("a");
  }
  EXPECT_EQ(tries.count("a"), 1) << "by this line alone";
}

TEST(PluginRepairsTest, EndStopsWhatIsUnderWay) {
  Tries tries;
  {
    PluginRepairs repairs(
        [&](const std::string& agent, const std::stop_token& stop) {
          std::stop_callback told(stop, [&] { tries.count("told"); });
          tries.count(agent);
          return tries.await("told", 1);
        },
        std::chrono::milliseconds(1));
    repairs.add("a");
    ASSERT_TRUE(tries.await("a", 1));
  }
  EXPECT_EQ(tries.count("told"), 2) << "by this line alone";
}

}  // namespace
}  // namespace hutch::service
