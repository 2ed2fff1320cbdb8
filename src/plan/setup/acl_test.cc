// Access control lists: the format, the mask, and that what is taken back leaves what was there.
#include "plan/setup/acl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace hutch::plan {
namespace {

using testing::ElementsAre;

constexpr std::uint32_t kAgent = 990;
constexpr std::uint32_t kBob = 1001;
constexpr std::array kAgentAlone = {kAgent};
constexpr unsigned kAll = kAclRead | kAclWrite | kAclExecute;

// As getfacl(1) prints it: user::rw-,user:1001:r--,...
Acl masked(unsigned group, unsigned bob, unsigned mask) {
  return {{AclTag::kOwner, kAll, 0},
          {AclTag::kUser, bob, kBob},
          {AclTag::kOwningGroup, group, 0},
          {AclTag::kMask, mask, 0},
          {AclTag::kOther, 0, 0}};
}

TEST(Acl, OfAModeIsThreeEntries) {
  EXPECT_THAT(acl_of_mode(0754), ElementsAre(AclEntry{AclTag::kOwner, 7, 0}, AclEntry{AclTag::kOwningGroup, 5, 0},
                                             AclEntry{AclTag::kOther, 4, 0}));
  EXPECT_TRUE(is_minimal(acl_of_mode(0)));
}

TEST(Acl, ReadsWhatItWrote) {
  for (const Acl& acl : {acl_of_mode(0640), with_user(acl_of_mode(0600), kAgent, 6), masked(7, 7, 5)}) {
    const auto read = parse_acl(encode_acl(acl));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, acl);
  }
}

TEST(Acl, IsLittleEndianWithTheKernelsNumbers) {
  using std::string_view_literals::operator""sv;
  EXPECT_EQ(encode_acl({{AclTag::kUser, 5, 0x01020304}}), "\2\0\0\0\2\0\5\0\4\3\2\1"sv);
  EXPECT_EQ(encode_acl({{AclTag::kMask, 7, 0}}), "\2\0\0\0\x10\0\7\0\xff\xff\xff\xff"sv);
}

TEST(Acl, RefusesWhatIsNone) {
  const Acl owner_alone = {{AclTag::kOwner, 7, 0}};
  const Acl no_mask = {
      {AclTag::kOwner, 7, 0}, {AclTag::kUser, 7, kBob}, {AclTag::kOwningGroup, 0, 0}, {AclTag::kOther, 0, 0}};
  Acl twice = masked(0, 0, 0);
  twice.insert(twice.begin() + 1, twice[1]);
  Acl too_much = acl_of_mode(0);
  too_much[0].rights = 8;
  Acl unknown = acl_of_mode(0);
  unknown[0].tag = static_cast<AclTag>(3);
  for (const Acl& acl : {owner_alone, no_mask, twice, too_much, unknown, Acl{}}) {
    EXPECT_FALSE(parse_acl(encode_acl(acl)));
  }
  const std::string good = encode_acl(acl_of_mode(0644));
  EXPECT_FALSE(parse_acl(""));
  EXPECT_FALSE(parse_acl(good.substr(0, good.size() - 1)));
  EXPECT_FALSE(parse_acl("\3" + good.substr(1)));
  EXPECT_FALSE(parse_acl(encode_acl(Acl(kAclEntriesMax + 1, AclEntry{}))));
}

TEST(Acl, GrantsToTheUserAloneAndTakesItBack) {
  const Acl before = acl_of_mode(0640);
  const Acl shared = with_user(before, kAgent, 6);
  EXPECT_THAT(shared, ElementsAre(AclEntry{AclTag::kOwner, 6, 0}, AclEntry{AclTag::kUser, 6, kAgent},
                                  AclEntry{AclTag::kOwningGroup, 4, 0}, AclEntry{AclTag::kMask, 6, 0},
                                  AclEntry{AclTag::kOther, 0, 0}));
  EXPECT_EQ(restored(shared, before, kAgentAlone), before);
}

// A raised mask would hand Bob and the group what it had held back.
TEST(Acl, GivesNobodyElseMoreByRaisingTheMask) {
  const Acl before = masked(kAll, kAll, kAclRead);
  const Acl shared = with_user(before, kAgent, kAll);
  const AclFile file{.owner = 1000, .group = 100};
  constexpr std::array<std::uint32_t, 1> kGroup = {100};
  EXPECT_EQ(rights_of(shared, file, kBob, {}), kAclRead);
  EXPECT_EQ(rights_of(shared, file, 4242, kGroup), kAclRead);
  EXPECT_EQ(rights_of(shared, file, kAgent, {}), kAll);
  EXPECT_EQ(restored(shared, before, kAgentAlone), before);
}

TEST(Acl, KeepsWhatOthersChangedMeanwhile) {
  const Acl before = acl_of_mode(0600);
  const Acl now = with_user(with_user(before, kAgent, 6), kBob, 4);
  EXPECT_EQ(restored(now, before, kAgentAlone), with_user(before, kBob, 4));
}

TEST(Acl, RestoresAnEntryThatTheUserHadBefore) {
  const Acl before = with_user(acl_of_mode(0600), kAgent, 4);
  EXPECT_EQ(restored(with_user(before, kAgent, 6), before, kAgentAlone), before);
}

TEST(Acl, GivesNoEntryBackThatSomebodyElseTookAway) {
  const Acl now = with_user(acl_of_mode(0600), kBob, 4);
  const Acl before = with_user(now, kAgent, 4);
  EXPECT_EQ(restored(now, before, kAgentAlone), now);
}

TEST(Acl, LeavesEntriesOfOthersWhoShare) {
  constexpr std::array<std::uint32_t, 1> kBobAlone = {kBob};
  const Acl before = with_user(acl_of_mode(0600), kAgent, 4);
  const Acl both = with_user(with_user(before, kAgent, 6), kBob, 6);
  EXPECT_EQ(restored(both, before, kAgentAlone, kBobAlone), with_user(before, kBob, 6));
  EXPECT_EQ(restored(restored(both, before, kAgentAlone, kBobAlone), before, kBobAlone), before);
}

TEST(Acl, LeavesAListAloneThatNamesNobodyOfThem) {
  const Acl wide_mask = masked(0, kAclRead, kAll);
  EXPECT_EQ(without_users(wide_mask, kAgentAlone), wide_mask);
}

TEST(Acl, DecidesByTheFirstEntryThatIsAboutTheUser) {
  const AclFile file{.owner = 1000, .group = 100};
  constexpr std::array<std::uint32_t, 1> kGroup = {100};
  const Acl acl = with_user(acl_of_mode(0747), kAgent, 0);
  EXPECT_EQ(rights_of(acl, file, 1000, {}), 7U);
  EXPECT_EQ(rights_of(acl, file, kAgent, kGroup), 0U);
  EXPECT_EQ(rights_of(acl, file, 4242, kGroup), 4U);
  EXPECT_EQ(rights_of(acl, file, 4242, {}), 7U);
}

TEST(Acl, DefaultsAreTheDirectorysOwnRightsWithoutNamedUsers) {
  EXPECT_EQ(default_of(masked(kAll, kAll, kAclRead)), acl_of_mode(0740));
}

}  // namespace
}  // namespace hutch::plan
