// The books of a pool: who gets which sandbox, what is evicted, what is made next.
#include "sandbox/pool/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "sandbox/pool/spec.h"

namespace hutch::sandbox {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr PoolLimits kSmall{.max = 2, .warm = 0, .queue = 1, .patience = seconds(30), .idle = seconds(100)};

// Keeps the time, and what was granted and refused by the ledger so far.
class Books {
 public:
  explicit Books(PoolLimits limits) : ledger(limits) {}

  PoolLedger::Actions settle() {
    PoolLedger::Actions actions = ledger.settle(now);
    for (const auto& grant : actions.grants) leases[grant.ticket] = grant;
    for (const auto& refusal : actions.refusals) refused[refusal.ticket] = refusal.error.message;
    return actions;
  }
  PoolLedger::Number ask(const std::string& key, milliseconds patience = seconds(30)) {
    return ledger.ask(key, now, now + patience);
  }
  // With what it needs started at once; the lease.
  PoolLedger::Number hold(const std::string& key) {
    const auto ticket = ask(key);
    for (const auto& start : settle().starts) ledger.started(start.sandbox, now);
    settle();
    return leases.at(ticket).lease;
  }
  void end(const PoolLedger::Actions& actions) {
    for (const auto sandbox : actions.ends) ledger.ended(sandbox);
  }

  PoolLedger ledger;
  PoolLedger::Moment now{std::chrono::hours(1)};
  std::map<PoolLedger::Number, PoolLedger::Grant> leases;
  std::map<PoolLedger::Number, std::string> refused;
};

TEST(PoolLedger, StartsWhatIsAskedForAndGrantsItOnceItIsThere) {
  Books books(kSmall);
  const auto ticket = books.ask("a");
  const auto actions = books.settle();
  ASSERT_THAT(actions.starts, SizeIs(1));
  EXPECT_EQ(actions.starts[0].key, "a");
  EXPECT_THAT(books.settle().starts, IsEmpty()) << "it is on its way already";
  books.ledger.started(actions.starts[0].sandbox, books.now);
  books.settle();
  EXPECT_EQ(books.leases.at(ticket).sandbox, actions.starts[0].sandbox);
  EXPECT_EQ(books.ledger.stats().busy, 1U);
  EXPECT_EQ(books.ledger.stats().hits, 0U);
  EXPECT_EQ(books.ledger.stats().waits, 0U);
}

TEST(PoolLedger, AReleasedSandboxEndsAndIsGivenToNobody) {
  Books books(kSmall);
  const auto lease = books.hold("a");
  const auto sandbox = books.ledger.release(lease);
  ASSERT_TRUE(sandbox);
  EXPECT_THAT(books.settle().ends, ElementsAre(*sandbox));
  books.ask("a");
  const auto actions = books.settle();
  EXPECT_THAT(actions.grants, IsEmpty());
  ASSERT_THAT(actions.starts, SizeIs(1));
  EXPECT_NE(actions.starts[0].sandbox, *sandbox);
}

TEST(PoolLedger, ALeaseIsGoodOnceAndForItsHolderAlone) {
  Books books(kSmall);
  const auto lease = books.hold("a");
  EXPECT_FALSE(books.ledger.release(lease + 1000)) << "nobody's";
  EXPECT_EQ(books.ledger.stats().busy, 1U);
  ASSERT_TRUE(books.ledger.release(lease));
  books.end(books.settle());
  const auto other = books.hold("a");
  const auto again = books.ledger.release(lease);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("released or destroyed before"));
  EXPECT_EQ(books.ledger.stats().busy, 1U) << "the next holder keeps theirs";
  EXPECT_TRUE(books.ledger.release(other));
}

TEST(PoolLedger, QueuesAtTheLimitAndRefusesWhenTheQueueIsFull) {
  Books books(kSmall);
  const auto first = books.hold("a");
  books.hold("a");
  const auto waiting = books.ask("a");
  books.settle();
  const auto late = books.ask("a");
  EXPECT_THAT(books.settle().starts, IsEmpty());
  EXPECT_THAT(books.refused.at(late), HasSubstr("Pool limit reached"));
  EXPECT_FALSE(books.refused.contains(waiting));
  EXPECT_EQ(books.ledger.stats().queued, 1U);
  EXPECT_EQ(books.ledger.stats().waits, 2U);
  ASSERT_TRUE(books.ledger.release(first));
  const auto ending = books.settle();
  EXPECT_THAT(ending.starts, IsEmpty()) << "it counts until it is gone";
  books.end(ending);
  EXPECT_THAT(books.settle().starts, SizeIs(1));
}

TEST(PoolLedger, WithoutAQueueWhoFindsNoRoomIsRefusedAtOnce) {
  PoolLimits limits = kSmall;
  limits.queue = 0;
  Books books(limits);
  const auto held = books.hold("a");
  books.hold("a");
  const auto none = books.ask("a");
  books.settle();
  EXPECT_THAT(books.refused.at(none), HasSubstr("Pool limit reached"));
  // Room that is on its way is room.
  ASSERT_TRUE(books.ledger.release(held));
  const auto ending = books.settle();
  const auto next = books.ask("a");
  books.settle();
  EXPECT_FALSE(books.refused.contains(next));
  books.end(ending);
  EXPECT_THAT(books.settle().starts, SizeIs(1));
}

TEST(PoolLedger, ALimitOfNoneGivesNobodyOne) {
  Books books({.max = 0, .warm = 3, .queue = 9});
  const auto ticket = books.ask("a");
  EXPECT_THAT(books.settle().starts, IsEmpty());
  EXPECT_THAT(books.refused.at(ticket), HasSubstr("Pool limit reached"));
  EXPECT_FALSE(books.ledger.fill("a", 1, books.now));
}

TEST(PoolLedger, WhoWaitsTooLongIsToldSo) {
  Books books(kSmall);
  books.hold("a");
  books.hold("a");
  const auto waiting = books.ask("a", seconds(5));
  books.settle();
  EXPECT_EQ(books.ledger.next(), books.now + seconds(5));
  books.now += seconds(5);
  books.settle();
  EXPECT_THAT(books.refused.at(waiting), HasSubstr("of 2, 2 are in use and 0 starting"));
  EXPECT_EQ(books.ledger.stats().queued, 0U);
}

TEST(PoolLedger, EvictsTheIdleOneWhoseKindWasWantedLongestAgo) {
  PoolLimits limits = kSmall;
  limits.fill_gap = milliseconds(0);
  Books books(limits);
  std::map<std::string, PoolLedger::Number> made;
  for (const std::string key : {"a", "b"}) {
    ASSERT_TRUE(books.ledger.fill(key, 1, books.now));
    const auto starts = books.settle().starts;
    ASSERT_THAT(starts, SizeIs(1));
    made[key] = starts[0].sandbox;
    books.ledger.started(made[key], books.now);
    books.now += seconds(1);
  }
  books.ask("c");
  EXPECT_THAT(books.settle().ends, ElementsAre(made["a"]));
  EXPECT_THAT(books.settle().ends, IsEmpty()) << "one for each who asks";
}

TEST(PoolLedger, KindsAreKeptApart) {
  Books books(kSmall);
  ASSERT_TRUE(books.ledger.fill("a", 1, books.now));
  books.ledger.started(books.settle().starts.at(0).sandbox, books.now);
  const auto ticket = books.ask("b");
  const auto actions = books.settle();
  EXPECT_FALSE(books.leases.contains(ticket));
  ASSERT_THAT(actions.starts, SizeIs(1));
  EXPECT_EQ(actions.starts[0].key, "b");
}

TEST(PoolLedger, KeepsWarmWithAGapAndOnlyWhereThereIsRoom) {
  Books books({.max = 3, .warm = 2, .idle = seconds(100), .fill_gap = milliseconds(50)});
  books.hold("a");
  EXPECT_THAT(books.settle().starts, IsEmpty()) << "whoever has just got one has the machine first";
  EXPECT_EQ(books.ledger.next(), books.now + milliseconds(50));
  books.now += milliseconds(50);
  const auto first = books.settle().starts;
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_THAT(books.settle().starts, IsEmpty()) << "one at a time";
  books.ledger.started(first[0].sandbox, books.now);
  EXPECT_THAT(books.settle().starts, IsEmpty());
  books.now += milliseconds(50);
  const auto second = books.settle().starts;
  ASSERT_THAT(second, SizeIs(1));
  books.ledger.started(second[0].sandbox, books.now);
  books.now += seconds(1);
  EXPECT_THAT(books.settle().starts, IsEmpty());
  books.ask("a");
  books.settle();
  EXPECT_EQ(books.ledger.stats().hits, 1U);
  EXPECT_EQ(books.ledger.stats().total, 3U);
}

TEST(PoolLedger, IdleOnesAgeOutAndAreNotMadeAgain) {
  Books books({.max = 3, .warm = 1, .idle = seconds(100), .fill_gap = milliseconds(50)});
  const auto lease = books.hold("a");
  books.now += seconds(1);
  books.ledger.started(books.settle().starts.at(0).sandbox, books.now);
  ASSERT_TRUE(books.ledger.release(lease));
  books.end(books.settle());
  books.now += seconds(99);
  EXPECT_THAT(books.settle().ends, SizeIs(1));
  EXPECT_FALSE(books.ledger.knows("a"));
  EXPECT_THAT(books.settle().starts, IsEmpty());
}

TEST(PoolLedger, AFailedStartIsToldToWhoWaitsAndTriedAgainLaterInAdvance) {
  PoolLimits limits = kSmall;
  limits.warm = 1;
  Books books(limits);
  const auto ticket = books.ask("a");
  books.ledger.start_failed(books.settle().starts.at(0).sandbox, Error::invalid("no such image"), books.now);
  EXPECT_THAT(books.settle().starts, IsEmpty());
  EXPECT_EQ(books.refused.at(ticket), "no such image");
  EXPECT_EQ(books.ledger.stats().total, 0U);
  EXPECT_EQ(books.ledger.stats().last_error, "no such image");
  books.now += limits.retry;
  EXPECT_THAT(books.settle().starts, SizeIs(1));
}

TEST(PoolLedger, OneThatCannotBeEndedCountsAndIsTriedAgain) {
  Books books(kSmall);
  const auto sandbox = books.ledger.release(books.hold("a"));
  ASSERT_TRUE(sandbox);
  books.settle();
  books.ledger.end_failed(*sandbox, Error::invalid("the engine is gone"), books.now);
  EXPECT_THAT(books.settle().ends, IsEmpty());
  EXPECT_EQ(books.ledger.stats().total, 1U);
  EXPECT_EQ(books.ledger.next(), books.now + kSmall.retry);
  books.now += kSmall.retry;
  EXPECT_THAT(books.settle().ends, ElementsAre(*sandbox));
}

TEST(PoolLedger, DrainEndsIdleOnesAndLeavesBusyOnes) {
  Books books({.max = 3, .warm = 1, .fill_gap = milliseconds(50)});
  const auto lease = books.hold("a");
  books.now += seconds(1);
  const auto starts = books.settle().starts;
  ASSERT_THAT(starts, SizeIs(1));
  EXPECT_EQ(books.ledger.drain(), 1U) << "one that starts in advance";
  books.ledger.started(starts[0].sandbox, books.now);
  EXPECT_THAT(books.settle().ends, ElementsAre(starts[0].sandbox));
  books.now += seconds(1);
  EXPECT_THAT(books.settle().starts, IsEmpty()) << "until somebody asks";
  EXPECT_EQ(books.ledger.stats().busy, 1U);
  EXPECT_TRUE(books.ledger.release(lease));
}

TEST(PoolLedger, EndAllEndsAllAndRefusesWhoWaits) {
  Books books(kSmall);
  const auto lease = books.hold("a");
  books.ask("b");
  const auto starting = books.settle().starts;
  ASSERT_THAT(starting, SizeIs(1));
  const auto waiting = books.ask("a");
  books.settle();
  EXPECT_THAT(books.ledger.end_all(), SizeIs(2));
  EXPECT_THAT(books.settle().ends, SizeIs(1)) << "the other one as soon as it has started";
  EXPECT_THAT(books.refused.at(waiting), HasSubstr("were ended"));
  EXPECT_FALSE(books.ledger.release(lease));
  books.ledger.started(starting[0].sandbox, books.now);
  const auto actions = books.settle();
  EXPECT_THAT(actions.grants, IsEmpty());
  EXPECT_THAT(actions.ends, ElementsAre(starting[0].sandbox));
}

TEST(PoolSpec, EverythingThatMattersIsInTheKey) {
  std::vector<PoolSpec> specs(1);
  const auto other = [&](const auto& change) { change(specs.emplace_back()); };
  other([](PoolSpec& spec) { spec.backend = policy::BackendKind::kBwrap; });
  other([](PoolSpec& spec) { spec.trust = Trust::kTrusted; });
  other([](PoolSpec& spec) { spec.image = "i"; });
  other([](PoolSpec& spec) { spec.policy = "i"; });
  other([](PoolSpec& spec) { spec.memory_bytes = 1; });
  other([](PoolSpec& spec) { spec.cpu_millis = 1; });
  other([](PoolSpec& spec) { spec.pids = 1; });
  other([](PoolSpec& spec) { spec.disk_bytes = 1; });
  other([](PoolSpec& spec) { spec.mounts = {{"/a", "/b"}}; });
  other([](PoolSpec& spec) { spec.mounts = {{"/a", "/b", MountUse::kReadOnly}}; });
  other([](PoolSpec& spec) { spec.mounts = {{"/a", "/b"}, {"/c", "/d"}}; });
  other([](PoolSpec& spec) { spec.environment = {{"A", "B"}}; });
  other([](PoolSpec& spec) { spec.environment = {{"A1:B", ""}}; });
  other([](PoolSpec& spec) { spec.hosts = {"a", "b"}; });
  other([](PoolSpec& spec) { spec.hosts = {"ab"}; });
  other([](PoolSpec& spec) { spec.network = PoolNetwork::kHost; });
  std::set<std::string> keys;
  for (const PoolSpec& spec : specs) keys.insert(key_of(spec));
  EXPECT_EQ(keys.size(), specs.size());
}

}  // namespace
}  // namespace hutch::sandbox
