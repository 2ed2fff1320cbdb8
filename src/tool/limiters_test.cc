// Turns, quiet, and the sliding minute, with a time that is given.
#include "tool/limiters.h"

#include <gtest/gtest.h>

namespace hutch::tool {
namespace {

using std::chrono::seconds;
using Exec = ExecLimiter::Answer;
using Rate = RateLimiter::Answer;

const TimePoint kStart{std::chrono::hours(1)};

TEST(ExecLimiter, ANamedTurnHasItsNumber) {
  ExecLimiter limiter;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(limiter.take("alice", "t1", 10, kStart), Exec::kTaken);
  EXPECT_EQ(limiter.take("alice", "t1", 10, kStart), Exec::kRefused);
  EXPECT_EQ(limiter.take("alice", "t1", 10, kStart + std::chrono::hours(1)), Exec::kRefused);
  EXPECT_EQ(limiter.take("alice", "t2", 10, kStart), Exec::kTaken);
  EXPECT_EQ(limiter.take("alice", "t1", 10, kStart), Exec::kRefused);
  EXPECT_EQ(limiter.take("bob", "t1", 10, kStart), Exec::kTaken);
}

TEST(ExecLimiter, AnUnnamedTurnEndsAfterQuiet) {
  ExecLimiter limiter;
  EXPECT_EQ(limiter.take("alice", "", 2, kStart), Exec::kTaken);
  EXPECT_EQ(limiter.take("alice", "", 2, kStart + seconds(14)), Exec::kTaken);
  EXPECT_EQ(limiter.take("alice", "", 2, kStart + seconds(28)), Exec::kRefused);
  EXPECT_EQ(limiter.take("alice", "", 2, kStart + seconds(29)), Exec::kTaken);
}

TEST(ExecLimiter, ARefusalDoesNotProlongItself) {
  ExecLimiter limiter;
  EXPECT_EQ(limiter.take("alice", "", 1, kStart), Exec::kTaken);
  for (int s = 1; s < 15; ++s) EXPECT_EQ(limiter.take("alice", "", 1, kStart + seconds(s)), Exec::kRefused);
  EXPECT_EQ(limiter.take("alice", "", 1, kStart + seconds(15)), Exec::kTaken);
}

TEST(ExecLimiter, TheQuietBeginsWhenACommandHasEnded) {
  ExecLimiter limiter;
  EXPECT_EQ(limiter.take("alice", "", 1, kStart), Exec::kTaken);
  limiter.ended("alice", "", kStart + seconds(60));
  EXPECT_EQ(limiter.take("alice", "", 1, kStart + seconds(61)), Exec::kRefused);
  EXPECT_EQ(limiter.take("alice", "", 1, kStart + seconds(75)), Exec::kTaken);
  limiter.ended("nobody", "", kStart);
}

TEST(ExecLimiter, NoLimitAndForgetting) {
  ExecLimiter limiter;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(limiter.take("alice", "", 0, kStart), Exec::kTaken);
  EXPECT_EQ(limiter.take("alice", "", 1, kStart), Exec::kTaken);
  EXPECT_EQ(limiter.take("alice", "", 1, kStart), Exec::kRefused);
  limiter.forget("alice");
  EXPECT_EQ(limiter.take("alice", "", 1, kStart), Exec::kTaken);
}

TEST(ExecLimiter, ManyTurnsAreForgottenOldestFirst) {
  ExecLimiter limiter;
  EXPECT_EQ(limiter.take("alice", "first", 1, kStart), Exec::kTaken);
  for (int i = 0; i < 63; ++i) EXPECT_EQ(limiter.take("alice", std::to_string(i), 1, kStart), Exec::kTaken);
  EXPECT_EQ(limiter.take("alice", "first", 1, kStart), Exec::kRefused);
  for (int i = 100; i < 164; ++i) EXPECT_EQ(limiter.take("alice", std::to_string(i), 1, kStart), Exec::kTaken);
  EXPECT_EQ(limiter.take("alice", "first", 1, kStart), Exec::kTaken);
}

TEST(RateLimiter, AWindowThatSlides) {
  RateLimiter limiter;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(limiter.take("alice", "dispatch", kStart + seconds(i)), Rate::kTaken);
  EXPECT_EQ(limiter.take("alice", "dispatch", kStart + seconds(59)), Rate::kRefused);
  EXPECT_EQ(limiter.take("alice", "dispatch", kStart + seconds(60)), Rate::kTaken);
  EXPECT_EQ(limiter.take("alice", "dispatch", kStart + seconds(60)), Rate::kRefused);
  EXPECT_EQ(limiter.take("alice", "http", kStart + seconds(60)), Rate::kTaken);
  EXPECT_EQ(limiter.take("bob", "dispatch", kStart + seconds(60)), Rate::kTaken);
  limiter.forget("alice");
  EXPECT_EQ(limiter.take("alice", "dispatch", kStart + seconds(60)), Rate::kTaken);
}

TEST(RateLimiter, EachServiceHasItsNumber) {
  EXPECT_EQ(RateLimiter::most("inference"), 60U);
  EXPECT_EQ(RateLimiter::most("http"), 120U);
  EXPECT_EQ(RateLimiter::most("dispatch"), 10U);
  EXPECT_EQ(RateLimiter::most("anything"), 120U);
}

}  // namespace
}  // namespace hutch::tool
