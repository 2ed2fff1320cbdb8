// Whose the commits at references are.
#include "plan/git/known_commits.h"

#include <gtest/gtest.h>

#include "plan/git/authored.h"

namespace hutch::plan {
namespace {

using enum KnownCommit::Whose;

const std::string kA(40, 'a');
const std::string kB(40, 'b');
const std::string kC(64, 'c');

KnownCommits known_after(const std::string& text) { return read_known_commits(text); }

// A start that finds these names, without the listing.
std::string started(const std::string& text, const std::set<std::string>& found, OtherRuns others = OtherRuns::kNone) {
  KnownCommits known = read_known_commits(text);
  const KnownCommit::Whose whose = whose_at_start(known, others);
  const std::string begin = lines_of_begin(known, others);
  return text + begin + add_names(known, found, whose);
}
std::string ended(const std::string& text, const std::set<std::string>& found) {
  KnownCommits known = read_known_commits(text);
  return text + add_names(known, found, kSandboxes) + std::string(kEndOfRun);
}

TEST(KnownCommits, NewOnesAreTheUsersAtAStartAndTheSandboxesAfterIt) {
  const std::string text = started(ended(started("", {kA}), {kA, kB}), {kA, kB, kC});
  const KnownCommits known = known_after(text);
  const std::vector<KnownCommit> expected = {{kUsers, kA}, {kSandboxes, kB}, {kUsers, kC}};
  EXPECT_EQ(known.commits, expected);
  EXPECT_EQ(known.open, 1U);
  EXPECT_FALSE(known.is_broken);
}

TEST(KnownCommits, NewOnesMayBeThoseOfAnotherRun) {
  EXPECT_EQ(known_after(started("", {kA}, OtherRuns::kSome)).commits.front().whose, kSandboxes);
  // One that was killed.
  std::string text = started(started("", {}), {kA});
  EXPECT_EQ(known_after(text).commits.front().whose, kSandboxes);
  EXPECT_EQ(known_after(text).open, 1U);
  text = started(text + std::string(kEndOfRun), {kA, kB});
  EXPECT_EQ(known_after(text).commits.back().whose, kUsers);
}

TEST(KnownCommits, OneThatGoesOnStaysOpen) {
  EXPECT_EQ(known_after(started(started("", {}), {}, OtherRuns::kSome)).open, 2U);
}

// What could not be read makes the new names of the next start a sandbox's, until a run was read in whole.
TEST(KnownCommits, ADoubtHeals) {
  std::string text = started("", {kA}) + std::string(kInDoubt) + std::string(kEndOfRun);
  text = started(text, {kA, kB});
  EXPECT_EQ(known_after(text).commits.back(), (KnownCommit{kSandboxes, kB}));
  EXPECT_EQ(known_after(text).commits.front(), (KnownCommit{kUsers, kA}));
  text = started(text + std::string(kNoDoubt) + std::string(kEndOfRun), {kA, kB, kC});
  EXPECT_EQ(known_after(text).commits.back(), (KnownCommit{kUsers, kC}));
}

TEST(KnownCommits, WhatWasLeftCountsFromThenOn) {
  const GitAuthored evil{".vscode/a b\n", kGitPlainMode, std::string(20, 'e')};
  std::string text = ended(started("", {kA}), {kB});
  text += lines_of_authored(known_after(text), {evil}) + lines_of_listed(known_after(text), {kB});
  text = started(text, {kC});
  const KnownCommits known = known_after(text);
  ASSERT_FALSE(known.is_broken);
  EXPECT_EQ(known.authored.at(authored_key(evil.path, 0100664, evil.object)), 2U);
  EXPECT_EQ(known.listed, std::set<std::string>{kB});
  EXPECT_TRUE(not_listed(known).empty());
  EXPECT_EQ(known_ends(known).size(), 3U);
  EXPECT_EQ(lines_of_authored(known, {evil}) + lines_of_listed(known, {kB}), "");
}

TEST(KnownCommits, AListThatIsNotWholeKnowsNothing) {
  for (const std::string& text : {"u " + kA, "u " + kA.substr(1) + "\n", std::string("e\n"), std::string("x\n"),
                                  "u " + kA + "\nl " + kA.substr(2) + "\n", "u " + std::string(40, 'A') + "\n"}) {
    EXPECT_TRUE(known_after(text).is_broken) << text;
    EXPECT_TRUE(known_after(text).commits.empty()) << text;
  }
  EXPECT_FALSE(known_after("").is_broken);
}

}  // namespace
}  // namespace hutch::plan
