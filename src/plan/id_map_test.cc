// Maps of ids.
#include "plan/id_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hutch::plan {
namespace {

using testing::ElementsAre;

const IdRange kRange{100'000, 65'536};

TEST(IdMap, KeepsTheCallersNumberAndGivesRootASubordinateId) {
  const IdMap map = make_id_map(1000, 1001, kRange, kRange);
  EXPECT_EQ(map.kind, IdMap::Kind::kMany);
  EXPECT_EQ(map.user, 1000U);
  EXPECT_EQ(map.group, 1001U);
  EXPECT_THAT(map.users,
              ElementsAre(IdExtent{0, 100'000, 1000}, IdExtent{1000, 1000, 1}, IdExtent{1001, 101'001, 64'535}));
}

TEST(IdMap, NeverMakesTheHostsRootRootOfTheSandbox) {
  const IdMap map = make_id_map(0, 0, kRange, kRange);
  EXPECT_EQ(map.user, kRootInside);
  for (const IdExtent& extent : map.users) {
    EXPECT_EQ(extent.outside == 0, extent.inside == kRootInside);
    EXPECT_FALSE(extent.outside == 0 && extent.inside == 0);
  }
}

TEST(IdMap, PutsALargeNumberBehindTheImagesOwn) {
  EXPECT_THAT(make_id_map(200'000, 5, kRange, kRange).users,
              ElementsAre(IdExtent{0, 100'000, 65'536}, IdExtent{200'000, 200'000, 1}));
}

TEST(IdMap, HasOneUserWhereARangeIsMissingTooSmallOrHoldsTheCaller) {
  EXPECT_EQ(make_id_map(1000, 1000, std::nullopt, kRange).kind, IdMap::Kind::kOne);
  EXPECT_EQ(make_id_map(1000, 1000, kRange, IdRange{100'000, 1000}).kind, IdMap::Kind::kOne);
  EXPECT_EQ(make_id_map(100'005, 1000, kRange, kRange).kind, IdMap::Kind::kOne);
  const IdMap one = make_id_map(1000, 1000, {}, {});
  EXPECT_THAT(one.users, ElementsAre(IdExtent{1000, 1000, 1}));
  EXPECT_THAT(map_for_files(one).users, ElementsAre(IdExtent{0, 1000, 1}));
}

TEST(IdMap, IsWrittenAsTheKernelReadsIt) {
  EXPECT_EQ(map_text({{0, 100'000, 5}, {5, 1000, 1}}), "0 100000 5\n5 1000 1\n");
}

TEST(FindIdRange, TakesTheFirstThatIsLargeEnough) {
  const auto range = find_id_range("bob:1:2\nada:100000:65536\nbob:300000:65536\n", "bob", 1000);
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, 300'000U);
  EXPECT_TRUE(find_id_range("1000:100000:65536", "bob", 1000));
}

TEST(FindIdRange, PassesOverWhatIsNoRange) {
  for (const char* text : {"", "bob", "bob::", "bob:-1:65536", "bob:0:65536", "bob:4294967295:65536", "bob:1:2:3",
                           "bob:x:65536", "ada:100000:65536"}) {
    EXPECT_FALSE(find_id_range(text, "bob", 1000)) << text;
  }
}

}  // namespace
}  // namespace hutch::plan
