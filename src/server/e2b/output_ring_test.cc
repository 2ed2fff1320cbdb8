// Readers of one process at their own pace.
#include "server/e2b/output_ring.h"

#include <gtest/gtest.h>

namespace hutch::server {
namespace {

constexpr OutputRing::Clock::time_point kStart{std::chrono::hours(1)};
constexpr OutputRing::Clock::time_point kPatienceOver = kStart + OutputRing::kPatience;

std::string all(OutputRing& ring, OutputRing::Reader reader) {
  std::string text;
  while (auto piece = ring.take(reader, 100)) text += piece->bytes;
  return text;
}

TEST(OutputRing, KindsKeepTheirOrder) {
  OutputRing ring;
  const auto reader = ring.join();
  ring.add(OutputKind::kOutput, "a");
  ring.add(OutputKind::kOutput, "b");
  ring.add(OutputKind::kError, "c");
  ring.add(OutputKind::kOutput, "d");
  std::string text;
  while (auto piece = ring.take(reader, 100)) {
    text += (piece->kind == OutputKind::kError ? "!" : ".") + piece->bytes;
    EXPECT_EQ(piece->lost, 0U);
  }
  EXPECT_EQ(text, ".ab!c.d");
  EXPECT_FALSE(ring.take(reader, 100));
}

TEST(OutputRing, WhatNobodyHasReadIsForTheNext) {
  OutputRing ring;
  const auto first = ring.join();
  ring.add(OutputKind::kOutput, "one");
  EXPECT_EQ(all(ring, first), "one");
  ring.leave(first);
  ring.add(OutputKind::kOutput, "two");
  const auto second = ring.join();
  EXPECT_EQ(all(ring, second), "two");
  // Beside somebody who reads one begins with what comes.
  ring.add(OutputKind::kOutput, "three");
  const auto third = ring.join();
  ring.add(OutputKind::kOutput, "four");
  EXPECT_EQ(all(ring, third), "four");
  EXPECT_EQ(all(ring, second), "threefour");
}

TEST(OutputRing, OneThatStallsHoldsUpNobodyForLong) {
  OutputRing ring;
  const auto stalled = ring.join();
  const auto fast = ring.join();
  const std::string piece(60'000, 'x');
  std::uint64_t had = 0;
  std::uint64_t written = 0;
  while (written < 3 * OutputRing::kKeptMax) {
    const bool is_full = ring.bytes_kept() > OutputRing::kKeptMax - (64 << 10);
    ASSERT_EQ(ring.wants_more(kStart), !is_full && written < OutputRing::kKeptMax) << written;
    ASSERT_EQ(ring.patience_end(), ring.wants_more(kStart) ? std::nullopt : std::optional(kPatienceOver));
    ASSERT_TRUE(ring.wants_more(kPatienceOver)) << written;
    ring.add(OutputKind::kOutput, piece);
    written += piece.size();
    while (auto taken = ring.take(fast, 1 << 20)) {
      EXPECT_EQ(taken->lost, 0U);
      had += taken->bytes.size();
    }
  }
  EXPECT_EQ(had, written);
  const auto late = ring.take(stalled, 1 << 20);
  ASSERT_TRUE(late.has_value());
  EXPECT_GE(late->lost, written - OutputRing::kKeptMax);
}

TEST(OutputRing, OneThatIsSlowIsWaitedForAsLongAsItCatchesUp) {
  OutputRing ring;
  const auto slow = ring.join();
  const auto fast = ring.join();
  const std::string piece(60'000, 'x');
  OutputRing::Clock::time_point now = kStart;
  std::uint64_t written = 0;
  std::uint64_t had = 0;
  for (int round = 0; round < 5; ++round) {
    while (ring.wants_more(now)) {
      ring.add(OutputKind::kOutput, piece);
      written += piece.size();
      (void)all(ring, fast);
    }
    ASSERT_EQ(ring.patience_end(), now + OutputRing::kPatience) << "its time begins anew once it has caught up";
    now += OutputRing::kPatience / 2;
    // Its time does not begin anew for a little.
    had += ring.take(slow, 100)->bytes.size();
    ASSERT_FALSE(ring.wants_more(now));
    ASSERT_EQ(ring.patience_end(), now + OutputRing::kPatience / 2);
    while (written - had > OutputRing::kKeptMax / 2) {
      const auto piece_had = ring.take(slow, 100'000);
      ASSERT_EQ(piece_had->lost, 0U);
      had += piece_had->bytes.size();
    }
    now += std::chrono::hours(1);
  }
  ring.leave(slow);
  EXPECT_TRUE(ring.wants_more(now)) << "nobody waits for one that has left";
}

TEST(OutputRing, ALoneReaderSlowsTheProcessAndLosesNothing) {
  OutputRing ring;
  const auto reader = ring.join();
  std::uint64_t written = 0;
  while (ring.wants_more(kStart)) {
    ring.add(OutputKind::kOutput, std::string(10'000, 'x'));
    written += 10'000;
  }
  EXPECT_GE(written, OutputRing::kAheadMax);
  EXPECT_LT(written, OutputRing::kAheadMax + 20'000);
  EXPECT_EQ(all(ring, reader).size(), written);
  EXPECT_TRUE(ring.wants_more(kStart));
  ring.leave(reader);
  // With nobody there it goes on, and its end is kept.
  for (std::uint64_t more = 0; more < 2 * OutputRing::kKeptMax; more += 10'000) {
    ASSERT_TRUE(ring.wants_more(kStart));
    ring.add(OutputKind::kOutput, std::string(10'000, 'y'));
  }
  const auto next = ring.join();
  const std::string kept = all(ring, next);
  EXPECT_LE(kept.size(), OutputRing::kKeptMax);
  EXPECT_GT(kept.size(), OutputRing::kKeptMax - 100'000);
}

TEST(OutputRing, WhatNobodyWaitsForCanBeDropped) {
  OutputRing ring;
  const std::string piece(50'000, 'x');
  for (int i = 0; i < 4; ++i) ring.add(OutputKind::kOutput, piece);
  EXPECT_GE(ring.bytes_kept(), 200'000U);
  EXPECT_EQ(ring.bytes_droppable(), ring.bytes_kept());
  ring.drop(60'000);
  EXPECT_LT(ring.bytes_kept(), 110'000U);
  const auto stalled = ring.join();
  const auto fast = ring.join();
  EXPECT_EQ(all(ring, stalled).size(), 100'000U);
  for (int i = 0; i < 4; ++i) ring.add(OutputKind::kOutput, piece);
  EXPECT_EQ(ring.bytes_droppable(), 0U) << "it is on its way to both";
  ring.drop(1 << 20);
  EXPECT_EQ(all(ring, fast).size(), 200'000U);
  ring.drop(1 << 20);
  EXPECT_EQ(ring.bytes_kept(), 0U);
  EXPECT_TRUE(ring.has_more(stalled));
  EXPECT_EQ(ring.take(stalled, 100)->lost, 200'000U) << "whoever was behind is told";
  EXPECT_FALSE(ring.has_more(stalled));
  ring.leave(stalled);
  ring.leave(fast);
  EXPECT_EQ(all(ring, ring.join()), "");
}

TEST(OutputRing, LittlePiecesCostWhatTheyCost) {
  OutputRing ring;
  for (std::uint64_t i = 0; i < OutputRing::kKeptMax / 10; ++i) {
    ring.add(i % 2 == 0 ? OutputKind::kOutput : OutputKind::kError, "x");
  }
  EXPECT_LE(ring.bytes_kept(), OutputRing::kKeptMax);
  EXPECT_LT(all(ring, ring.join()).size(), OutputRing::kKeptMax / 40);
  EXPECT_EQ(ring.bytes_kept(), 0U);
}

}  // namespace
}  // namespace hutch::server
