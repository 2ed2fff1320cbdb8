// Which runs of the record end with a daemon that was killed.
#include "service/live/abandoned.h"

#include <gtest/gtest.h>

namespace hutch::service {
namespace {

using store::Record;
using store::RunEnd;
using store::RunStart;
using store::Time;

Time at_ms(int milliseconds) { return Time(std::chrono::milliseconds(milliseconds)); }

Record start(const std::string& run, const std::string& agent, int when) {
  return {at_ms(when), run, RunStart{.command = {"true"}, .cwd = "/", .policy = {}, .backend = "none"}, agent};
}

Record end(const std::string& run, const std::string& agent) { return {at_ms(50), run, RunEnd{}, agent}; }

TEST(Abandoned, WhatHasNoEndGetsOne) {
  const auto ends = ends_of_abandoned({start("a1", "alice", 10),
                                       start("b2", "bob", 20),
                                       end("b2", "bob"),
                                       start("c3", "bob", 30),
                                       {at_ms(31), "c3", store::Refusal{}, "bob"}},
                                      at_ms(100));
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_EQ(ends[0].run, "a1");
  EXPECT_EQ(ends[0].agent, "alice");
  EXPECT_EQ(ends[0].time, at_ms(100));
  EXPECT_EQ(std::get<RunEnd>(ends[0].body).duration.count(), 90);
  EXPECT_EQ(std::get<RunEnd>(ends[0].body).exit_code, 125);
  EXPECT_EQ(std::get<RunEnd>(ends[0].body).error, "the daemon ended while it ran");
  EXPECT_EQ(ends[1].run, "c3");
}

TEST(Abandoned, ARunOfAnotherProgramMayStillGoOn) {
  EXPECT_TRUE(ends_of_abandoned({start("a1", "", 10)}, at_ms(100)).empty());
}

TEST(Abandoned, AnEndWhoseStartIsGoneAndAClockThatWasSetBackAreNoTrouble) {
  EXPECT_TRUE(ends_of_abandoned({end("a1", "alice")}, at_ms(100)).empty());
  const auto ends = ends_of_abandoned({start("a1", "alice", 500)}, at_ms(100));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(std::get<RunEnd>(ends[0].body).duration.count(), 0);
}

}  // namespace
}  // namespace hutch::service
