// What is kept of a stream: the first and the last bytes.
#include "sandbox/outcome.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace hutch::sandbox {
namespace {

constexpr std::size_t kBoth = limits::kOutputHeadBytes + limits::kOutputTailBytes;

TEST(Capture, AShortStreamIsWhole) {
  Capture capture;
  capture.add("one ");
  capture.add("two");
  EXPECT_EQ(capture.text(), "one two");
  EXPECT_EQ(capture.bytes_left_out(), 0U);
  EXPECT_EQ(capture.bytes_total(), 7U);
}

TEST(Capture, WhatJustFitsIsWhole) {
  Capture capture;
  const std::string all(kBoth, 'x');
  capture.add(all);
  EXPECT_EQ(capture.text(), all);
  EXPECT_EQ(capture.bytes_left_out(), 0U);
}

TEST(Capture, TheMiddleOfALongStreamIsLeftOutAndCounted) {
  Capture capture;
  capture.add("first");
  for (int i = 0; i < 5000; ++i) capture.add(std::string(1000, 'x'));
  capture.add("last");
  EXPECT_EQ(capture.bytes_total(), 5'000'009U);
  EXPECT_EQ(capture.bytes_left_out(), 5'000'009U - kBoth);
  const std::string text = capture.text();
  EXPECT_TRUE(text.starts_with("first"));
  EXPECT_TRUE(text.ends_with("last"));
  EXPECT_NE(text.find("bytes left out"), std::string::npos);
}

TEST(Capture, AnUnfinishedLineIsWhatFollowsTheLastEnd) {
  Capture capture;
  EXPECT_EQ(capture.unfinished_line(), "");
  capture.add("one\n$ ");
  EXPECT_EQ(capture.unfinished_line(), "$ ");
  capture.add("ls\n");
  EXPECT_EQ(capture.unfinished_line(), "");
  for (int i = 0; i < 5000; ++i) capture.add(std::string(1000, 'x'));
  capture.add("\n> ");
  EXPECT_EQ(capture.unfinished_line(), "> ");
}

TEST(EndedBy, OnlyItselfIsNoKill) {
  EXPECT_FALSE(is_killed(EndedBy::kItself));
  EXPECT_TRUE(is_killed(EndedBy::kMemoryLimit));
  EXPECT_TRUE(is_timeout(EndedBy::kIdleTimeout));
  EXPECT_FALSE(is_timeout(EndedBy::kSignal));
}

}  // namespace
}  // namespace hutch::sandbox
