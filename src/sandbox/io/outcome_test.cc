// What is kept of a stream: the first and the last bytes.
#include "sandbox/io/outcome.h"

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

// The character lies across the end of the head, and its bytes come one by one.
TEST(Capture, NoCharacterIsCutWhereTheHeadEnds) {
  const std::string euro = "\xe2\x82\xac";
  for (std::size_t before = 0; before <= 3; ++before) {
    Capture capture;
    const std::string head(limits::kOutputHeadBytes - before, 'x');
    capture.add(head);
    for (const char byte : euro) capture.add(std::string_view(&byte, 1));
    EXPECT_EQ(capture.text(), head + euro) << before;
    EXPECT_EQ(capture.bytes_left_out(), 0U);
    for (int i = 0; i < 40; ++i) capture.add(std::string(100'000, 'y'));
    EXPECT_EQ(capture.head(), before == 3 ? head + euro : head) << before;
    EXPECT_EQ(capture.bytes_left_out(), capture.bytes_total() - capture.head().size() - capture.tail().size());
  }
}

TEST(Capture, NoCharacterIsCutWhereTheTailBegins) {
  const std::string euro = "\xe2\x82\xac";
  for (std::size_t more = 0; more < 3; ++more) {
    Capture capture;
    std::string all(100'000, 'x');
    while (all.size() < 5 * limits::kOutputTailBytes) all += euro;
    all += std::string(more, 'z');
    for (std::size_t at = 0; at < all.size(); at += 7777) capture.add(std::string_view(all).substr(at, 7777));
    EXPECT_TRUE(capture.tail().starts_with(euro)) << more;
    EXPECT_TRUE(capture.head().ends_with(euro)) << more;
    EXPECT_TRUE(all.ends_with(capture.tail()));
    EXPECT_EQ(capture.bytes_left_out(), all.size() - capture.head().size() - capture.tail().size());
    EXPECT_LE(capture.bytes_left_out(), all.size() - kBoth + 6);
    const Capture::Piece piece = capture.read(capture.head().size(), all.size());
    EXPECT_EQ(piece.bytes, capture.tail());
    EXPECT_EQ(piece.skipped, capture.bytes_left_out());
    EXPECT_EQ(piece.next, all.size());
  }
}

// Bytes that are no text lose three at most at each end.
TEST(Capture, BytesThatAreNoTextAreKept) {
  Capture capture;
  capture.add(std::string(5 * limits::kOutputTailBytes, '\x80'));
  EXPECT_EQ(capture.head().size(), limits::kOutputHeadBytes);
  EXPECT_EQ(capture.tail().size(), limits::kOutputTailBytes - 3);
}

// Whoever follows sees each byte once, in order.
TEST(Capture, AFollowerIsNotDisturbedByTheSeam) {
  Capture capture;
  std::string seen;
  std::uint64_t next = 0;
  const std::string all = std::string(limits::kOutputHeadBytes - 1, 'x') + "\xe2\x82\xac" + std::string(1000, 'y');
  for (std::size_t at = 0; at < all.size(); at += limits::kOutputHeadBytes / 2) {
    capture.add(std::string_view(all).substr(at, limits::kOutputHeadBytes / 2));
    for (;;) {
      const Capture::Piece piece = capture.read(next, 100'001);
      EXPECT_EQ(piece.skipped, 0U);
      if (piece.bytes.empty()) break;
      seen += piece.bytes;
      next = piece.next;
    }
  }
  EXPECT_TRUE(seen == all);
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
