// Shares of the kernel's counts for a user or the host.
#include "plan/quotas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace hutch::plan {
namespace {

HostFacts host(std::uint64_t open_files, std::uint64_t soft) {
  HostFacts facts;
  facts.process_limits = {{0, ~0ULL, ~0ULL},    {kOpenFilesResource, soft, open_files},
                          {8, ~0ULL, ~0ULL},    {11, 96364, 96364},
                          {12, 819200, 819200}, {14, 95, 95}};
  facts.user_counts = {{"max_inotify_instances", 128}, {"max_fanotify_groups", 4}};
  return facts;
}

ProcessLimit limit(const std::vector<ProcessLimit>& limits, int resource) {
  const auto found = std::ranges::find(limits, resource, &ProcessLimit::resource);
  return found != limits.end() ? *found : ProcessLimit{-1, 0, 0};
}

TEST(Quotas, EachNameIsThereOnceAndSaysWhatIsLeft) {
  std::set<std::string_view> names;
  for (const Quota& quota : quotas()) {
    EXPECT_TRUE(names.insert(quota.name).second) << quota.name;
    EXPECT_FALSE(quota.left.empty()) << quota.name;
    EXPECT_EQ(quota.hold == QuotaHold::kRlimit, quota.resource >= 0) << quota.name;
    EXPECT_LT(quota.resource, kResources) << quota.name;
    const bool is_known = std::ranges::find(kUserCounts, quota.name) != kUserCounts.end();
    EXPECT_EQ(quota.hold == QuotaHold::kUserCount, is_known) << quota.name;
  }
}

TEST(Quotas, AShareIsNeverMoreThanTheHostHas) {
  for (const Quota& quota : quotas()) {
    for (const std::uint64_t own : {0ULL, 1ULL, 100ULL, 1'000'000ULL, ~0ULL}) {
      const auto share = share_of(quota, own);
      if (share && quota.share != 0) EXPECT_LE(*share, own) << quota.name;
    }
  }
}

TEST(Quotas, DescriptorsAreAHalfAndNoMoreThanWasUsual) {
  const ProcessLimit usual = limit(process_limits(host(20000, 1024)), kOpenFilesResource);
  EXPECT_EQ(usual, (ProcessLimit{kOpenFilesResource, 1024, 10000}));
  const ProcessLimit raised = limit(process_limits(host(1 << 20, 1 << 20)), kOpenFilesResource);
  EXPECT_EQ(raised, (ProcessLimit{kOpenFilesResource, 65536, 65536}));
  const ProcessLimit few = limit(process_limits(host(48, 48)), kOpenFilesResource);
  EXPECT_EQ(few, (ProcessLimit{kOpenFilesResource, 48, 48}));
  EXPECT_EQ(usual_process_limits(host(20000, 1024)), (std::vector<ProcessLimit>{{kOpenFilesResource, 1024, 20000}}));
}

TEST(Quotas, OtherLimits) {
  const auto limits = process_limits(host(20000, 1024));
  EXPECT_EQ(limit(limits, 11).hard, 96364U / 4);
  EXPECT_EQ(limit(limits, 12).hard, 819200U / 2);
  EXPECT_EQ(limit(limits, 14), (ProcessLimit{14, 0, 0}));
  EXPECT_EQ(limit(limits, 8).resource, -1) << "where nothing is limited nothing can be used up";
  EXPECT_EQ(user_counts(host(20000, 1024)),
            (std::vector<UserCount>{{"max_inotify_instances", 32}, {"max_fanotify_groups", 4}}));
}

std::vector<std::uint64_t> shared(std::vector<MountStep> steps, std::uint64_t bytes) {
  std::vector<MountStep*> pointers;
  for (MountStep& step : steps) pointers.push_back(&step);
  share_tmpfs_bytes(pointers, bytes);
  std::vector<std::uint64_t> sizes;
  for (const MountStep& step : steps) sizes.push_back(step.size_bytes);
  return sizes;
}

MountStep tmpfs(const char* target, std::uint64_t size = 0) {
  return {.kind = MountKind::kTmpfs, .target = target, .size_bytes = size};
}

TEST(Quotas, PrivateDirectoriesShareMemory) {
  constexpr std::uint64_t kMiB = 1 << 20;
  using Sizes = std::vector<std::uint64_t>;
  EXPECT_EQ(shared({tmpfs("/tmp"), tmpfs("/h/.cache"), tmpfs("/h/.npm")}, 64 * kMiB),
            (Sizes{32 * kMiB, 16 * kMiB, 16 * kMiB}));
  EXPECT_EQ(shared({tmpfs("/tmp"), tmpfs("/dev/shm"), tmpfs("/h/.npm")}, 96 * kMiB),
            (Sizes{32 * kMiB, 32 * kMiB, 32 * kMiB}));
  EXPECT_EQ(shared({tmpfs("/tmp")}, 64 * kMiB), (Sizes{64 * kMiB}));
  EXPECT_EQ(shared({tmpfs("/h/.cache"), tmpfs("/h/.npm")}, 64 * kMiB), (Sizes{32 * kMiB, 32 * kMiB}));
  EXPECT_EQ(shared({tmpfs("/tmp", kMiB), tmpfs("/h/.npm", 64 * kMiB)}, 64 * kMiB), (Sizes{kMiB, 32 * kMiB}));
  EXPECT_EQ(shared({tmpfs("/tmp", 7)}, 0), (Sizes{7})) << "nothing is known to share";
  EXPECT_EQ(shared({tmpfs("/tmp"), tmpfs("/h/.npm")}, 4096), (Sizes{4096, 4096})) << "a page at least";
}

TEST(Quotas, TheMemoryOfPrivateDirectories) {
  HostFacts facts;
  EXPECT_EQ(tmpfs_bytes_max(facts, {}), 0U);
  facts.memory_bytes = 8ULL << 30;
  EXPECT_EQ(tmpfs_bytes_max(facts, {}), 4ULL << 30);
  EXPECT_EQ(tmpfs_bytes_max(facts, {.memory_bytes = 100}), 100U);
  EXPECT_EQ(tmpfs_bytes_max(facts, {.tmp_bytes = 100}), 0U) << "the person said how large each is";
}

// docs/limits.md has a row for each count, in this order and with these words.
TEST(Quotas, AreThoseOfTheDocumentation) {
  std::ifstream file(HUTCH_SOURCE_DIR "/docs/limits.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const Quota& quota : quotas()) {
    EXPECT_NE(text.str().find("| " + std::string(quota.name) + " |"), std::string::npos) << quota.name;
    EXPECT_NE(text.str().find("| " + std::string(quota.left) + " |"), std::string::npos) << quota.left;
  }
}

}  // namespace
}  // namespace hutch::plan
