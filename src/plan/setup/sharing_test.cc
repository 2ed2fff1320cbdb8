// Shared trees: which one decides, and that what unsharing leaves is what sharing found.
#include "plan/setup/sharing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace hutch::plan {
namespace {

constexpr std::uint32_t kSharedWith = 990;
constexpr std::uint32_t kOther = 991;
constexpr std::uint32_t kOwner = 1000;
const SharedTree kTree{.path = "/home/ada/app", .agent = kSharedWith, .mode = ShareMode::kReadWrite};

SharedFile plain_file(unsigned mode) { return {.mode = mode, .of = {.owner = kOwner, .group = 100}}; }
SharedFile directory(unsigned mode) {
  SharedFile file = plain_file(mode);
  file.is_directory = true;
  return file;
}

// What the file is once the kernel has done it.
SharedFile after(SharedFile file, const AclChange& change) {
  if (change.access) file.access = is_minimal(*change.access) ? Acl() : *change.access;
  if (change.defaults) file.defaults = *change.defaults;
  return file;
}

unsigned rights(const SharedFile& file, std::uint32_t uid) { return rights_of(access_of(file), file.of, uid, {}); }

bool has_own_lists(const SharedFile& file, std::span<const std::uint32_t> users) {
  const AclBefore own = own_lists(file, users, {});
  return !own.access.empty() || !own.defaults.empty();
}

TEST(Sharing, TheInnermostTreeDecides) {
  const std::array trees = {
      kTree, SharedTree{.path = "/home/ada/app/docs", .agent = kSharedWith, .mode = ShareMode::kReadOnly},
      SharedTree{.path = "/home/ada/app/docs/x", .agent = kOther, .mode = ShareMode::kReadWrite}};
  EXPECT_EQ(tree_of(trees, kSharedWith, "/home/ada/app/docs/x/y"), &trees[1]);
  EXPECT_EQ(tree_of(trees, kSharedWith, "/home/ada/app/docs2"), trees.data());
  EXPECT_EQ(tree_of(trees, kSharedWith, "/home/ada/application"), nullptr);
  EXPECT_EQ(tree_of(trees, kOther, "/home/ada/app"), nullptr);
  EXPECT_TRUE(is_way_to_a_tree(trees, kOther, "/home/ada/app/docs"));
  EXPECT_FALSE(is_way_to_a_tree(trees, kOther, "/home/ada/app/docs/x"));
}

TEST(Sharing, GivesExecutionOnlyWhereSomebodyHasIt) {
  const SharedFile text = plain_file(0600);
  const SharedFile program = plain_file(0700);
  EXPECT_EQ(rights(after(text, share_file(text, kTree, kOwner)), kSharedWith), kAclRead | kAclWrite);
  EXPECT_EQ(rights(after(program, share_file(program, kTree, kOwner)), kSharedWith),
            kAclRead | kAclWrite | kAclExecute);
  SharedTree read_only = kTree;
  read_only.mode = ShareMode::kReadOnly;
  EXPECT_EQ(rights(after(text, share_file(text, read_only, kOwner)), kSharedWith), kAclRead);
}

TEST(Sharing, WhatIsMadeLaterIsForBoth) {
  const SharedFile place = directory(0700);
  const SharedFile shared = after(place, share_file(place, kTree, kOwner));
  const AclFile made_by_agent{.owner = kSharedWith, .group = 990};
  const AclFile made_by_owner{.owner = kOwner, .group = 100};
  EXPECT_EQ(rights_of(shared.defaults, made_by_agent, kOwner, {}), 7U);
  EXPECT_EQ(rights_of(shared.defaults, made_by_owner, kSharedWith, {}), 7U);
  EXPECT_EQ(rights_of(shared.defaults, made_by_owner, kOther, {}), 0U);
}

TEST(Sharing, UnsharingLeavesWhatWasThere) {
  for (const unsigned mode : {0600U, 0640U, 0664U, 0755U, 0777U, 0U, 04755U}) {
    for (const SharedFile& before : {plain_file(mode), directory(mode)}) {
      const SharedFile shared = after(before, share_file(before, kTree, kOwner));
      EXPECT_FALSE(has_own_lists(before, {}));
      const SharedFile now = after(shared, unshare_file(shared, kTree, kOwner, {}, std::nullopt));
      EXPECT_EQ(now.access, before.access);
      EXPECT_EQ(now.defaults, before.defaults);
    }
  }
}

TEST(Sharing, UnsharingRestoresListsThatPeopleMade) {
  SharedFile before = directory(0750);
  before.access = with_user(acl_of_mode(0750), kSharedWith, 1);
  before.defaults = with_user(acl_of_mode(0750), kOwner, 5);
  EXPECT_TRUE(has_own_lists(before, {}));
  const SharedFile shared = after(before, share_file(before, kTree, kOwner));
  const AclBefore was{before.access, before.defaults};
  const SharedFile now = after(shared, unshare_file(shared, kTree, kOwner, {}, was));
  EXPECT_EQ(now.access, before.access);
  EXPECT_EQ(now.defaults, before.defaults);
}

TEST(Sharing, TwiceIsOnceAndUntouchedStaysSo) {
  const SharedFile place = directory(0755);
  const SharedFile shared = after(place, share_file(place, kTree, kOwner));
  const AclChange again = share_file(shared, kTree, kOwner);
  EXPECT_FALSE(again.access || again.defaults);
  const AclChange nothing = unshare_file(place, kTree, kOwner, {}, std::nullopt);
  EXPECT_FALSE(nothing.access || nothing.defaults);
}

TEST(Sharing, AnotherTreeKeepsWhatItGives) {
  const SharedFile place = directory(0700);
  const SharedFile shared = after(place, share_file(place, kTree, kOwner));
  const Remaining outer{.mode = ShareMode::kReadOnly, .owner_stays = true};
  const SharedFile now = after(shared, unshare_file(shared, kTree, kOwner, outer, std::nullopt));
  EXPECT_EQ(rights(now, kSharedWith), kAclRead | kAclExecute);
  const Remaining way{.passes = true, .owner_stays = true};
  EXPECT_EQ(rights(after(shared, unshare_file(shared, kTree, kOwner, way, std::nullopt)), kSharedWith), kAclExecute);
}

TEST(Sharing, SharesOfTwoAgentsAreNobodysOwnLists) {
  const SharedFile place = directory(0700);
  SharedTree second = kTree;
  second.agent = kOther;
  SharedFile shared = after(place, share_file(place, kTree, kOwner));
  shared = after(shared, share_file(shared, second, kOwner));
  constexpr std::array kUsers = {kSharedWith, kOther, kOwner};
  EXPECT_FALSE(has_own_lists(shared, kUsers));
  shared = after(shared, unshare_file(shared, kTree, kOwner, {.owner_stays = true}, std::nullopt));
  EXPECT_EQ(rights(shared, kSharedWith), 0U);
  EXPECT_EQ(rights(shared, kOther), 7U);
  shared = after(shared, unshare_file(shared, second, kOwner, {}, std::nullopt));
  EXPECT_TRUE(shared.access.empty() && shared.defaults.empty());
}

// By the default list of a directory of its own an agent gives its group rights to what others make there.
TEST(Sharing, TheAgentsGroupGoesWithIt) {
  SharedFile file = plain_file(0664);
  file.access = with_user(acl_of_mode(0664), kSharedWith, 6);
  const std::size_t mask = file.access.size() - 2;
  file.access.insert(file.access.begin() + static_cast<std::ptrdiff_t>(mask), {AclTag::kGroup, 6, kSharedWith});
  const SharedFile now = after(file, unshare_file(file, kTree, kOwner, {}, std::nullopt));
  EXPECT_TRUE(now.access.empty());
  // Not where somebody had let it in before.
  const AclBefore was{without_users(file.access, std::array{kSharedWith}), {}};
  EXPECT_EQ(after(file, unshare_file(file, kTree, kOwner, {}, was)).access, was.access);
  constexpr std::uint32_t kCommon = 2200;
  SharedFile common = file;
  common.access.insert(common.access.end() - 2, {AclTag::kGroup, 6, kCommon});
  EXPECT_FALSE(after(common, unshare_file(common, kTree, kOwner, {}, std::nullopt)).access.empty());
  EXPECT_TRUE(after(common, unshare_file(common, kTree, kOwner, {.groups = {kCommon}}, std::nullopt)).access.empty());
  EXPECT_FALSE(own_lists(file, std::array{kSharedWith}, {}).access.empty());
  EXPECT_TRUE(own_lists(file, std::array{kSharedWith}, std::array{kSharedWith}).access.empty());
}

TEST(Sharing, AFileSystemMayHaveAnotherNumberLater) {
  const ShareRoot then{.device = 7, .inode = 12, .born_ns = 99};
  EXPECT_EQ(compare_roots(then, then), SameRoot::kSame);
  EXPECT_EQ(compare_roots(then, {8, 12, 99}), SameRoot::kRenumbered);
  EXPECT_EQ(compare_roots(then, {8, 12, 98}), SameRoot::kOther);
  EXPECT_EQ(compare_roots(then, {7, 13, 99}), SameRoot::kOther);
  EXPECT_EQ(compare_roots({7, 12, 0}, {8, 12, 0}), SameRoot::kOther);
  EXPECT_EQ(compare_roots({}, {8, 12, 0}), SameRoot::kSame);
}

TEST(Sharing, WhatIsWrittenDownHoldsNothingOfAShare) {
  const SharedFile place = directory(0700);
  SharedFile shared = after(place, share_file(place, kTree, kOwner));
  // By hand, meanwhile.
  shared.access = with_user(shared.access, kOther, kAclRead);
  shared.defaults = with_user(shared.defaults, kOther, kAclRead);
  constexpr std::array kUsers = {kSharedWith, kOwner};
  ASSERT_TRUE(has_own_lists(shared, kUsers));
  const AclBefore was = own_lists(shared, kUsers, {});
  const SharedFile now = after(shared, unshare_file(shared, kTree, kOwner, {}, was));
  EXPECT_EQ(rights(now, kSharedWith), 0U);
  EXPECT_EQ(rights(now, kOther), kAclRead);
  EXPECT_EQ(now.access, with_user(acl_of_mode(0700), kOther, kAclRead));
  EXPECT_EQ(now.defaults, with_user(acl_of_mode(0700), kOther, kAclRead));
}

TEST(Sharing, AnotherAgentsEntryStaysAndAListOfBeforeComesBackWithTheLast) {
  SharedFile before = directory(0750);
  before.access = {{AclTag::kOwner, 7, 0},       {AclTag::kUser, 6, 42}, {AclTag::kUser, 5, kSharedWith},
                   {AclTag::kOwningGroup, 4, 0}, {AclTag::kMask, 4, 0},  {AclTag::kOther, 0, 0}};
  SharedTree second = kTree;
  second.agent = kOther;
  const AclBefore was{before.access, before.defaults};
  SharedFile now = after(before, share_file(before, second, kOwner));
  now = after(now, share_file(now, kTree, kOwner));
  now = after(now, unshare_file(now, kTree, kOwner, {.owner_stays = true, .others = {kOther, kOwner}}, was));
  EXPECT_EQ(rights(now, kOther), 7U);
  EXPECT_EQ(rights(now, kSharedWith), 4U);
  now = after(now, unshare_file(now, second, kOwner, {}, was));
  EXPECT_EQ(now.access, before.access);
  EXPECT_TRUE(now.defaults.empty());
}

TEST(Sharing, NamesAreAnAgentsToChangeWhereATreeForWritingOverlaps) {
  SharedTree reads = kTree;
  reads.mode = ShareMode::kReadOnly;
  for (const char* path : {"/home/ada/app", "/home/ada/app/docs", "/home/ada"}) {
    EXPECT_TRUE(is_written_by_agents(std::array{kTree}, path)) << path;
    EXPECT_FALSE(is_written_by_agents(std::array{reads}, path)) << path;
  }
  EXPECT_FALSE(is_written_by_agents(std::array{kTree}, "/home/ada/application"));
}

TEST(Sharing, ALinkLeadsOnWhereNoAgentCanHavePutIt) {
  const std::array agents = {ShareAgent{.uid = kSharedWith, .groups = {kSharedWith}}};
  const SharedFile closed = directory(0755);
  EXPECT_TRUE(may_lead(kOwner, closed, kOwner, agents));
  EXPECT_TRUE(may_lead(0, closed, kOwner, agents));
  EXPECT_FALSE(may_lead(kSharedWith, closed, kOwner, agents));
  EXPECT_FALSE(may_lead(kOwner, closed, 0, agents)) << "root follows nobody's";
  EXPECT_FALSE(may_lead(kOwner, directory(0777), kOwner, agents));
  EXPECT_TRUE(may_lead(kOwner, directory(01777), kOwner, agents)) << "sticky";
  EXPECT_FALSE(may_lead(kOwner, after(closed, share_file(closed, kTree, kOwner)), kOwner, agents));
  SharedFile groups = directory(0775);
  groups.of.group = kSharedWith;
  EXPECT_FALSE(may_lead(kOwner, groups, kOwner, agents));
  SharedFile agents_own = directory(01777);
  agents_own.of.owner = kSharedWith;
  EXPECT_FALSE(may_lead(kOwner, agents_own, kOwner, agents));
}

TEST(Sharing, LaterFilesAreForOthersAsTheMaskSays) {
  SharedTree tree = kTree;
  tree.umask = 027;
  const SharedFile place = directory(0777);
  const SharedFile shared = after(place, share_file(place, tree, kOwner));
  const AclFile made{.owner = kOwner, .group = 100};
  constexpr std::array kGroup = {100U};
  EXPECT_EQ(rights_of(shared.defaults, made, kOther, {}), 0U);
  EXPECT_EQ(rights_of(shared.defaults, made, kOther, kGroup), kAclRead | kAclExecute);
  EXPECT_EQ(rights_of(shared.defaults, made, kSharedWith, {}), 7U);
  EXPECT_EQ(rights(shared, kOther), 7U) << "what is there stays as it is";
}

TEST(Sharing, NobodyNewRunsOrChangesAProgramThatGivesMoreRights) {
  const SharedFile closed = plain_file(04750);
  EXPECT_EQ(rights(after(closed, share_file(closed, kTree, kOwner)), kSharedWith), kAclRead);
  SharedFile capable = plain_file(0750);
  capable.has_capabilities = true;
  EXPECT_EQ(rights(after(capable, share_file(capable, kTree, kOwner)), kSharedWith), kAclRead);
  const SharedFile open = plain_file(04755);
  EXPECT_EQ(rights(after(open, share_file(open, kTree, kOwner)), kSharedWith), kAclRead | kAclExecute);
}

}  // namespace
}  // namespace hutch::plan
