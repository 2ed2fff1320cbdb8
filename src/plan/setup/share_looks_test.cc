// When one look at a tree can be believed.
#include "plan/setup/share_looks.h"

#include <gtest/gtest.h>

#include <array>

namespace hutch::plan {
namespace {

DirectoryLooks looks_of(std::int64_t agents_ns, std::int64_t persons_ns) {
  DirectoryLooks looks;
  add_look(looks, 1, 10, {agents_ns, true});
  add_look(looks, 1, 11, {persons_ns, false});
  return looks;
}

TEST(ShareLooks, AreTheSameWhereNothingChanged) {
  EXPECT_TRUE(saw_all(looks_of(5, 7), looks_of(5, 7), Movers::kAll));
  EXPECT_FALSE(saw_all(looks_of(5, 7), looks_of(6, 7), Movers::kAll));
  EXPECT_FALSE(saw_all(looks_of(5, 7), looks_of(5, 8), Movers::kAll));
}

TEST(ShareLooks, OfAgentsAloneAreNotAboutThePersonsOwnChanges) {
  EXPECT_TRUE(saw_all(looks_of(5, 7), looks_of(5, 8), Movers::kAgents));
  EXPECT_FALSE(saw_all(looks_of(5, 7), looks_of(6, 7), Movers::kAgents));
}

TEST(ShareLooks, NoticeDirectoriesThatCameOrWent) {
  DirectoryLooks more = looks_of(5, 7);
  add_look(more, 1, 12, {9, true});
  EXPECT_FALSE(saw_all(looks_of(5, 7), more, Movers::kAll));
  EXPECT_FALSE(saw_all(more, looks_of(5, 7), Movers::kAgents));
}

TEST(ShareLooks, NoticeADirectoryThatWasMetTwice) {
  DirectoryLooks twice = looks_of(5, 7);
  add_look(twice, 1, 10, {5, true});
  EXPECT_FALSE(saw_all(twice, looks_of(5, 7), Movers::kAgents));
  EXPECT_FALSE(saw_all(twice, twice, Movers::kAgents));
}

TEST(ShareLooks, CannotTellTwoChangesOfOneStep) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  EXPECT_FALSE(shows_changes({kSecond, true}, kSecond + 1));
  EXPECT_FALSE(shows_changes({kSecond, true}, kSecond - 1));
  EXPECT_TRUE(shows_changes({kSecond, true}, 2 * kSecond));
  EXPECT_TRUE(shows_changes({2 * kSecond, true}, kSecond));
}

TEST(ShareLooks, DoNotReachUnderWhatAnAgentHasMounted) {
  constexpr std::array<std::uint32_t, 1> kAgents = {311};
  const std::vector<Cover> mounts = {{"/t/a", std::nullopt}, {"/t/b", 1000}, {"/t/c", 311}, {"/t/c", std::nullopt}};
  using Places = std::vector<std::string>;
  EXPECT_EQ(covered_by(kAgents, Places{}, mounts), Places{});
  EXPECT_EQ(covered_by(kAgents, Places{"/t/a", "/t/b"}, mounts), Places{});
  EXPECT_EQ(covered_by(kAgents, Places{"/t/a", "/t/c"}, mounts), Places{"/t/c"});
  EXPECT_EQ(covered_by(kAgents, Places{"/t/gone"}, mounts), std::nullopt);
}

}  // namespace
}  // namespace hutch::plan
