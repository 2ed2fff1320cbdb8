// The pool on sandboxes that count themselves: the limit under many threads, clean-up, failures.
#include "sandbox/pool/pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "base/text.h"

namespace hutch::sandbox {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

struct World {
  std::atomic<int> alive = 0;
  std::atomic<int> most = 0;
  std::atomic<int> made = 0;
  std::atomic<int> broken_ends = 0;  // so many ends fail
  std::atomic<int> broken_starts = 0;
  std::atomic<int> execs = 0;
  std::atomic<int> shared = 0;  // uses of one that had a user before
};

class FakeSandbox : public PooledSandbox {
 public:
  explicit FakeSandbox(World& world) : world_(world) {
    ++world_.made;
    const int alive = ++world_.alive;
    int most = world_.most;
    while (alive > most && !world_.most.compare_exchange_weak(most, alive)) {}
  }

  Result<std::shared_ptr<Process>> spawn(ProcessRequest request, Input) override {
    if (used_.exchange(true)) ++world_.shared;
    if (gone_) return fail(Error{Code::kConflict, 0, "it has ended"});
    ++world_.execs;
    return std::make_shared<Process>(1, std::move(request.arguments));
  }
  void end(const std::shared_ptr<Process>&, EndedBy) override {}
  bool is_alive() const override { return !gone_ && !died_; }
  Status destroy() override {
    if (int left = world_.broken_ends; left > 0 && world_.broken_ends.compare_exchange_strong(left, left - 1)) {
      return fail(Error::invalid("it does not go"));
    }
    if (!gone_.exchange(true)) --world_.alive;
    return {};
  }
  void die() { died_ = true; }

 private:
  World& world_;
  std::atomic<bool> used_ = false;
  std::atomic<bool> gone_ = false;
  std::atomic<bool> died_ = false;
};

class PoolTest : public testing::Test {
 protected:
  std::unique_ptr<Pool> open(PoolLimits limits) {
    auto pool = Pool::open(limits, [this](const PoolSpec&) -> Result<std::unique_ptr<PooledSandbox>> {
      if (world_.broken_starts > 0) {
        --world_.broken_starts;
        return fail(Error::invalid("it does not start"));
      }
      return std::make_unique<FakeSandbox>(world_);
    });
    EXPECT_TRUE(pool);
    return std::move(*pool);
  }
  static void await(const std::function<bool()>& done) {
    const auto until = std::chrono::steady_clock::now() + seconds(60);
    while (!done() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    EXPECT_TRUE(done());
  }

  World world_;
};

// 1,000 cycles of 16 threads on room for 3.
TEST_F(PoolTest, NeverHasMoreThanItsLimitAndNobodyUsesAnothersSandbox) {
  constexpr int kThreads = 16;
  constexpr int kCycles = 1008;
  auto pool = open({.max = 3, .warm = 1, .queue = kThreads, .patience = seconds(120), .fill_gap = milliseconds(0)});
  std::atomic<int> failures = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, kind = i % 2 == 0 ? Trust::kSandboxed : Trust::kTrusted] {
        for (int cycle = 0; cycle < kCycles / kThreads; ++cycle) {
          auto lease = pool->acquire({.trust = kind}, {});
          if (!lease || !lease->sandbox->spawn({.arguments = {"true"}, .environment = {}, .cwd = {}}, Input::kNone) ||
              !pool->release(lease->number)) {
            ++failures;
          }
          if (pool->stats().total > 3) ++failures;
        }
      });
    }
  }
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(world_.execs, kCycles);
  EXPECT_EQ(world_.shared, 0);
  EXPECT_LE(world_.most, 3);
  EXPECT_GT(pool->stats().waits, 0U);
  ASSERT_TRUE(pool->destroy_all());
  EXPECT_EQ(world_.alive, 0);
  EXPECT_EQ(pool->stats().total, 0U);
}

TEST_F(PoolTest, AReleasedOneIsEndedAndANewOneIsWarm) {
  auto pool = open({.max = 2, .warm = 1, .fill_gap = milliseconds(0)});
  const auto first = pool->acquire({}, {});
  ASSERT_TRUE(first);
  await([&] { return pool->stats().idle == 1; });
  const auto second = pool->acquire({}, {});
  ASSERT_TRUE(second);
  EXPECT_EQ(pool->stats().hits, 1U);
  EXPECT_NE(first->sandbox, second->sandbox);
  ASSERT_TRUE(pool->release(first->number));
  await([&] { return !first->sandbox->is_alive() && pool->stats().idle == 1; });
  EXPECT_FALSE(first->sandbox->spawn({.arguments = {"true"}, .environment = {}, .cwd = {}}, Input::kNone));
  EXPECT_EQ(world_.made, 3);
}

TEST_F(PoolTest, ReleaseByWhoDoesNotHoldItChangesNothing) {
  auto pool = open({.max = 2, .warm = 0});
  const auto lease = pool->acquire({}, {});
  ASSERT_TRUE(lease);
  EXPECT_FALSE(pool->release(lease->number + 7));
  EXPECT_FALSE(pool->destroy(0));
  EXPECT_EQ(pool->stats().busy, 1U);
  ASSERT_TRUE(pool->destroy(lease->number));
  EXPECT_EQ(pool->stats().total, 0U) << "destroy waits until it is gone";
  const auto next = pool->acquire({}, {});
  ASSERT_TRUE(next);
  EXPECT_FALSE(pool->destroy(lease->number));
  EXPECT_FALSE(pool->release(lease->number));
  EXPECT_TRUE(next->sandbox->is_alive());
  EXPECT_EQ(pool->stats().busy, 1U);
}

TEST_F(PoolTest, WaitsForItsTurnAndGivesUp) {
  auto pool = open({.max = 1, .warm = 0, .queue = 1});
  const auto lease = pool->acquire({}, {});
  ASSERT_TRUE(lease);
  const auto late = pool->acquire({}, {.at_most = milliseconds(30)});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::kTimeout);
  std::atomic<bool> gone = false;
  std::jthread leaver([&] {
    await([&] { return pool->stats().queued == 1; });
    gone = true;
  });
  EXPECT_FALSE(pool->acquire({}, {.at_most = seconds(60), .is_over = [&gone] { return gone.load(); }}));
  EXPECT_EQ(pool->stats().queued, 0U);
  std::jthread waiter([&] { EXPECT_TRUE(pool->acquire({}, {.at_most = seconds(60)})); });
  await([&] { return pool->stats().queued == 1; });
  const auto full = pool->acquire({}, {});
  ASSERT_FALSE(full);
  EXPECT_THAT(full.error().message, HasSubstr("Pool limit reached"));
  ASSERT_TRUE(pool->release(lease->number));
  waiter.join();
  EXPECT_EQ(pool->stats().busy, 1U);
}

TEST_F(PoolTest, OneThatDiedIsGivenToNobody) {
  auto pool = open({.max = 2, .warm = 1, .fill_gap = milliseconds(0)});
  ASSERT_TRUE(pool->fill({}, 1, {}));
  const auto probe = pool->acquire({}, {});
  ASSERT_TRUE(probe);
  static_cast<FakeSandbox&>(*probe->sandbox).die();
  ASSERT_TRUE(pool->release(probe->number));
  const auto lease = pool->acquire({}, {});
  ASSERT_TRUE(lease);
  EXPECT_TRUE(lease->sandbox->is_alive());
}

TEST_F(PoolTest, AFailureToStartIsTheAnswer) {
  auto pool = open({.max = 2, .warm = 1});
  world_.broken_starts = 1;
  const auto lease = pool->acquire({}, {});
  ASSERT_FALSE(lease);
  EXPECT_EQ(lease.error().message, "it does not start");
  world_.broken_starts = 1;
  const auto filled = pool->fill({}, 1, {});
  ASSERT_FALSE(filled);
  EXPECT_EQ(filled.error().message, "it does not start");
  EXPECT_TRUE(pool->acquire({}, {}));
}

TEST_F(PoolTest, DestroyAllRemovesTheRestWhereOneFails) {
  auto pool = open({.max = 3, .warm = 0, .retry = milliseconds(20)});
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(pool->acquire({}, {}));
  ASSERT_TRUE(pool->fill({}, 1, {}));
  world_.broken_ends = 1;
  const auto ended = pool->destroy_all();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "1 of 3 sandboxes could not be ended: it does not go");
  await([&] { return world_.alive == 0; });  // it is tried again
  await([&] { return pool->stats().total == 0; });
  EXPECT_TRUE(pool->acquire({}, {})) << "the pool goes on";
}

TEST_F(PoolTest, FillMakesThemReadyAndDrainEndsThem) {
  auto pool = open({.max = 3, .warm = 0, .fill_gap = milliseconds(1)});
  ASSERT_TRUE(pool->fill({.backend = policy::BackendKind::kBwrap}, 3, {}));
  EXPECT_EQ(pool->stats().idle, 3U);
  EXPECT_FALSE(pool->fill({}, 4, {}));
  const auto other = pool->acquire({}, {});  // an idle one of another kind goes
  ASSERT_TRUE(other);
  EXPECT_EQ(pool->stats().hits, 0U);
  const auto before = pool->stats();
  EXPECT_EQ(pool->drain(), before.idle + before.ending);
  await([&] { return pool->stats().total == 1; });
  EXPECT_TRUE(pool->release(other->number));
}

TEST_F(PoolTest, ItsEndIsTheirEnd) {
  {
    auto pool = open({.max = 3, .warm = 1, .fill_gap = milliseconds(0)});
    ASSERT_TRUE(pool->acquire({}, {}));
    ASSERT_TRUE(pool->fill({.trust = Trust::kTrusted}, 1, {}));
  }
  EXPECT_EQ(world_.alive, 0);
}

}  // namespace
}  // namespace hutch::sandbox
