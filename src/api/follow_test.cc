// Where a piece of a stream may end.
#include "api/follow.h"

#include <gtest/gtest.h>

namespace hutch::api {
namespace {

TEST(Follow, HoldsBackACharacterThatIsNotWhole) {
  EXPECT_EQ(unfinished_bytes(""), 0U);
  EXPECT_EQ(unfinished_bytes("a"), 0U);
  EXPECT_EQ(unfinished_bytes("a\303"), 1U);
  EXPECT_EQ(unfinished_bytes("a\303\251"), 0U);
  EXPECT_EQ(unfinished_bytes("\342\202"), 2U);
  EXPECT_EQ(unfinished_bytes("\342\202\254"), 0U);
  EXPECT_EQ(unfinished_bytes("\360\237\230"), 3U);
  EXPECT_EQ(unfinished_bytes("\360\237\230\200"), 0U);
}

TEST(Follow, BytesThatAreNoTextAreNotHeldBack) {
  EXPECT_EQ(unfinished_bytes("\200\200\200\200"), 0U);
  EXPECT_EQ(unfinished_bytes("\303\200\200"), 0U);
}

TEST(Follow, WhatWasAbortedBeforeItBeganWasKilled) {
  const CommandResult result = aborted_result();
  EXPECT_TRUE(result.killed && result.aborted && !result.success && !result.timed_out);
  EXPECT_EQ(result.exit_code, 143);
}

}  // namespace
}  // namespace hutch::api
