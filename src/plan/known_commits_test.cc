// Whose the commits at references are.
#include "plan/known_commits.h"

#include <gtest/gtest.h>

namespace hutch::plan {
namespace {

using enum KnownCommit::Whose;

const std::string kA(40, 'a');
const std::string kB(40, 'b');
const std::string kC(64, 'c');

KnownCommits known_after(const std::string& text) { return read_known_commits(text); }

TEST(KnownCommits, NewOnesAreTheUsersAtAStartAndTheSandboxesAfterIt) {
  std::string text = lines_at_start({}, {kA}, OtherRuns::kNone);
  text += lines_of_run(known_after(text), {kA, kB}, References::kAll) + std::string(kEndOfRun);
  text += lines_at_start(known_after(text), {kA, kB, kC}, OtherRuns::kNone);
  const KnownCommits known = known_after(text);
  const std::vector<KnownCommit> expected = {{kUsers, kA}, {kSandboxes, kB}, {kUsers, kC}};
  EXPECT_EQ(known.commits, expected);
  EXPECT_EQ(known.open, 1U);
  EXPECT_FALSE(known.is_broken);
}

TEST(KnownCommits, NewOnesMayBeThoseOfAnotherRun) {
  EXPECT_EQ(known_after(lines_at_start({}, {kA}, OtherRuns::kSome)).commits.front().whose, kSandboxes);
  // One that was killed.
  std::string text = lines_at_start({}, {}, OtherRuns::kNone);
  text += lines_at_start(known_after(text), {kA}, OtherRuns::kNone);
  EXPECT_EQ(known_after(text).commits.front().whose, kSandboxes);
  EXPECT_EQ(known_after(text).open, 1U);
  text +=
      std::string(kEndOfRun) + lines_at_start(known_after(text + std::string(kEndOfRun)), {kA, kB}, OtherRuns::kNone);
  EXPECT_EQ(known_after(text).commits.back().whose, kUsers);
}

TEST(KnownCommits, OneThatGoesOnStaysOpen) {
  std::string text = lines_at_start({}, {}, OtherRuns::kNone);
  text += lines_at_start(known_after(text), {}, OtherRuns::kSome);
  EXPECT_EQ(known_after(text).open, 2U);
}

TEST(KnownCommits, AListThatIsNotWholeKnowsNothing) {
  for (const std::string& text :
       {"u " + kA, "u " + kA.substr(1) + "\n", std::string("e\n"), std::string("?\n"),
        "u " + kA + "\n" + lines_of_run({}, {}, References::kTooMany), "u " + std::string(40, 'A') + "\n"}) {
    EXPECT_TRUE(known_after(text).is_broken) << text;
    EXPECT_TRUE(known_after(text).commits.empty()) << text;
  }
  EXPECT_FALSE(known_after("").is_broken);
}

}  // namespace
}  // namespace hutch::plan
