// Where a piece of a stream may end.
#include "api/follow.h"

#include <gtest/gtest.h>

namespace hutch::api {
namespace {

TEST(Follow, WhatWasAbortedBeforeItBeganWasKilled) {
  const CommandResult result = aborted_result();
  EXPECT_TRUE(result.killed && result.aborted && !result.success && !result.timed_out);
  EXPECT_EQ(result.exit_code, 143);
}

}  // namespace
}  // namespace hutch::api
