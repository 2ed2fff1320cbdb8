// A plugin's removal and what is at work for it meanwhile.
#include "service/plugins/uses.h"

#include <gtest/gtest.h>

#include <thread>

namespace hutch::service {
namespace {

using std::chrono::milliseconds;

TEST(PluginUses, ARemovalTellsWhatIsAtWorkAndWaitsForIt) {
  PluginUses uses;
  auto use = uses.begin("alice", "talk", {});
  auto other = uses.begin("alice", "other", {});
  ASSERT_TRUE(use && other);
  auto closing = uses.close("alice", "talk");
  ASSERT_TRUE(closing);
  EXPECT_TRUE((*use)->stop().stop_requested());
  EXPECT_TRUE((*use)->is_removed());
  EXPECT_FALSE((*other)->stop().stop_requested());
  EXPECT_FALSE((*closing)->await(milliseconds(10)));
  std::thread ends([&] { use->reset(); });
  EXPECT_TRUE((*closing)->await(milliseconds(10'000)));
  ends.join();
}

TEST(PluginUses, NothingBeginsWhileItLastsAndOneRemovalIsEnough) {
  PluginUses uses;
  {
    const auto closing = uses.close("alice", "talk");
    ASSERT_TRUE(closing);
    EXPECT_EQ(uses.begin("alice", "talk", {}).error().code, Code::kConflict);
    EXPECT_EQ(uses.close("alice", "talk").error().code, Code::kConflict);
    EXPECT_TRUE(uses.begin("bob", "talk", {}));
  }
  EXPECT_TRUE(uses.begin("alice", "talk", {}));
}

TEST(PluginUses, WhoeverAskedEndsItToo) {
  PluginUses uses;
  std::stop_source outer;
  const auto use = uses.begin("alice", "talk", outer.get_token());
  ASSERT_TRUE(use);
  EXPECT_EQ(uses.at_work("").size(), 1U);
  outer.request_stop();
  EXPECT_TRUE((*use)->stop().stop_requested());
  EXPECT_FALSE((*use)->is_removed());
}

}  // namespace
}  // namespace hutch::service
