// The tests of how many bytes are kept for one key.
#include "server/e2b/key_memory.h"

#include <gtest/gtest.h>

#include <thread>

namespace hutch::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = KeyMemory::Clock;

TEST(KeyMemory, AKeyHasSoMuchAndTakesNothingFromAnother) {
  KeyMemory memory(100);
  const auto now = Clock::now();
  auto first = memory.hold("mal", 60, now).value();
  auto second = memory.hold("mal", 40, now).value();
  const auto third = memory.hold("mal", 1, now);
  ASSERT_FALSE(third);
  EXPECT_TRUE(is_full(third.error()));
  EXPECT_FALSE(is_full({Code::kConflict, 0, "else"}));
  EXPECT_TRUE(memory.hold("bob", 100, now));
  first->shrink(50);
  first->shrink(55);
  EXPECT_EQ(first->bytes(), 50U);
  EXPECT_TRUE(memory.hold("mal", 10, now));
  EXPECT_FALSE(second->resize(51, now));
  EXPECT_EQ(second->bytes(), 40U) << "as it was";
  EXPECT_TRUE(second->resize(50, now));
  EXPECT_TRUE(memory.hold("mal", 0, now));
  first.reset();
  EXPECT_TRUE(second->resize(100, now));
}

TEST(KeyMemory, RoomIsWaitedForButNotWhereThereNeverIsAny) {
  KeyMemory memory(100);
  auto held = memory.hold("mal", 100, Clock::now()).value();
  const auto began = Clock::now();
  EXPECT_FALSE(memory.hold("mal", 101, began + seconds(60)));
  EXPECT_FALSE(memory.hold("mal", UINT64_MAX, began + seconds(60)));
  EXPECT_LT(Clock::now() - began, seconds(30));
  EXPECT_FALSE(memory.hold("mal", 1, Clock::now() + milliseconds(20)));
  bool had_room = false;
  std::thread waits([&] { had_room = memory.hold("mal", 100, Clock::now() + seconds(60)).has_value(); });
  held.reset();
  waits.join();
  EXPECT_TRUE(had_room);
}

TEST(KeyMemory, WhatIsHeldMayOutliveIt) {
  std::shared_ptr<KeyMemory::Held> held;
  {
    KeyMemory memory(1);
    held = memory.hold("", 1, Clock::now()).value();
  }
  held.reset();
}

}  // namespace
}  // namespace hutch::server
