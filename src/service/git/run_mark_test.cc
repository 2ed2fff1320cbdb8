// How one run reads the mark of another.
#include "service/git/run_mark.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/directory_testing.h"
#include "base/text.h"
#include "sys/files/changed.h"

namespace hutch::service {
namespace {

OtherRun one_that_may_write(const std::vector<std::string>& written, const FoundStates& found) {
  return read_run_mark(100, cat({written_text(written), found_text(found)}));
}

TEST(RunMark, AnOtherRunMadeNothingOutsideOfWhatItMayWrite) {
  const OtherRun run = one_that_may_write({"/home/a/w"}, {});
  EXPECT_TRUE(run.may_have_made("/home/a/w/.git/x", "s", 100));
  EXPECT_TRUE(run.may_have_made("/home/a/w", "s", 100));
  EXPECT_FALSE(run.may_have_made("/home/a/w2/x", "s", 100));
  EXPECT_FALSE(run.may_have_made("/home/a", "s", 100));
}

TEST(RunMark, AnOtherRunMadeNothingThatIsOlder) {
  const OtherRun run = one_that_may_write({"/w"}, {});
  EXPECT_FALSE(run.may_have_made("/w/x", "s", 99));
  EXPECT_TRUE(run.may_have_made("/w/x", "s", 100));
}

TEST(RunMark, WhatItFoundIsNotItsOwnAsLongAsItIsTheSame) {
  const OtherRun run = one_that_may_write({"/w"}, {{"/w/a b", "s"}, {"/w/c", "-"}});
  EXPECT_FALSE(run.may_have_made("/w/a b", "s", 200));
  EXPECT_TRUE(run.may_have_made("/w/a b", "t", 200));
  EXPECT_FALSE(run.may_have_made("/w/c", "-", 200));
  EXPECT_TRUE(run.may_have_made("/w/d", "s", 200));
}

TEST(RunMark, RepositoriesOutsideOfWhatItMayWriteAreKnownLater) {
  const std::string text = cat({written_text({"/w"}), repositories_text({"/r/.git/worktrees/w", "/x\nlooked"})});
  const OtherRun run = read_run_mark(100, text);
  EXPECT_EQ(run.repositories, (std::vector<std::string>{"/r/.git/worktrees/w", "/x\nlooked"}));
  EXPECT_FALSE(run.has_looked);
}

TEST(RunMark, NamesWithNewlinesSayNothingElse) {
  const OtherRun run = one_that_may_write({"/w"}, {{"/w/x\nf s /w/y", "s"}});
  EXPECT_TRUE(run.may_have_made("/w/y", "s", 200));
  EXPECT_FALSE(run.may_have_made("/w/x\nf s /w/y", "s", 200));
  EXPECT_TRUE(run.found_all);
  EXPECT_TRUE(one_that_may_write({"/w\nw /v\n."}, {}).written.empty()) << "it may write anywhere";
}

TEST(RunMark, OperationsThatItTouchedAndEnded) {
  const std::string text = cat({written_text({"/w"}), "t /w/a\nt /w/b c\ne /w/a\nt /w/x", std::string(1, '\0'), "y\n",
                                "tells\n", found_text({})});
  const OtherRun run = read_run_mark(100, text);
  EXPECT_EQ(run.touched, (std::set<std::string>{"/w/b c", "/w/x\ny"}));
  EXPECT_TRUE(run.tells_touched);
  EXPECT_FALSE(read_run_mark(100, cat({text, "hides\n"})).tells_touched);
  const OtherRun lacking = read_run_mark(100, cat({"!\n", text}));
  EXPECT_FALSE(lacking.tells_touched) << "its disk was full";
  EXPECT_FALSE(lacking.found_all);
}

TEST(RunMark, APathCanHaveTwoStates) {
  const std::string text = cat({written_text({"/w"}), found_text({{"/w/x", "a"}, {"/w/y", "a"}}),
                                found_text({{"/w/x", "b"}}), found_text({{"/w/y", std::string(kNoState)}})});
  const OtherRun run = read_run_mark(100, text);
  EXPECT_FALSE(run.may_have_made("/w/x", "a", 200));
  EXPECT_FALSE(run.may_have_made("/w/x", "b", 200));
  EXPECT_TRUE(run.may_have_made("/w/x", "a,b", 200));
  EXPECT_TRUE(run.may_have_made("/w/y", "a", 200));
}

TEST(RunMark, APartOfItCountsAsARunThatMayWriteAnything) {
  const std::string text = written_text({"/w", "/home/user"});
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_TRUE(read_run_mark(100, text.substr(0, size)).may_have_made("/home/user/x", "s", 100)) << size;
    EXPECT_TRUE(read_run_mark(100, text.substr(0, size)).may_have_made("/v", "s", 100)) << size;
  }
  EXPECT_FALSE(read_run_mark(100, text).may_have_made("/v", "s", 100));
}

TEST(RunMark, OddTextFindsNothing) {
  for (const std::string& text : {std::string("f"), std::string("f \n"), std::string("f s\n"), std::string("\n\nx\n"),
                                  std::string(std::size_t{65} << 20, 'f')}) {
    EXPECT_TRUE(read_run_mark(100, text).found.empty());
    EXPECT_TRUE(read_run_mark(100, text).may_have_made("/v", "s", 100));
  }
}

TEST(RunMark, WhatIsFoundHasALimit) {
  FoundStates found;
  for (int number = 0; number < 40'000; ++number)
    found.emplace(cat({"/w/", std::to_string(number)}), std::string(64, 's'));
  const std::string text = found_text(found);
  EXPECT_LT(text.size(), std::size_t{1} << 20);
  EXPECT_FALSE(read_run_mark(100, text).found.empty());
  EXPECT_LT(read_run_mark(100, text).found.size(), found.size());
  EXPECT_FALSE(read_run_mark(100, text).found_all);
  EXPECT_TRUE(read_run_mark(100, text).has_looked);
}

TEST(RunMark, ARunThatRestsMadeNothing) {
  const TestDirectory directory("run-mark-rests");
  const std::string marks = cat({directory.path(), "/running"});
  const RunMark other(marks, {"/v"});
  RunMark one(marks, {"/w"});
  one.found({{"/w/x", "s"}});
  const auto first = other.others();
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(other.others_meanwhile().size(), 1U);
  one.rest();
  EXPECT_TRUE(other.others().empty());
  EXPECT_EQ(other.others_meanwhile().size(), 1U) << "it began while the other one went on";
  one.again({"/u"});
  const auto again = other.others();
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].written, std::vector<std::string>{"/u"});
  EXPECT_TRUE(again[0].found.empty());
  EXPECT_GT(again[0].since_ns, first[0].since_ns);
  EXPECT_FALSE(again[0].has_looked);
  one.found({});
  EXPECT_TRUE(other.others()[0].has_looked);
}

TEST(RunMark, NobodyLooksForARunThatWasCutOffAtRest) {
  const TestDirectory directory("run-mark-cut-off");
  const std::string rests = cat({directory.path(), "/100"});
  std::ofstream(rests) << "-\n" << since_text(100) << written_text({"/w"}) << found_text({});
  EXPECT_TRUE(RunMark::cut_off(directory.path()).empty());
  EXPECT_FALSE(std::filesystem::exists(rests));
}

TEST(RunMark, RunsSeeEachOtherAsLongAsTheyGoOn) {
  const std::string place = cat({testing::TempDir(), "/marks-", std::to_string(getpid())});
  const RunMark first(place, {"/w"});
  {
    RunMark second(place, {"/v"});
    second.may_write({"/u"});
    second.found({{"/v/x", "s"}});
    const auto seen = first.others();
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen[0].written, (std::vector<std::string>{"/v", "/u"}));
    EXPECT_EQ(seen[0].found, (FoundStates{{"/v/x", "s"}}));
    EXPECT_EQ(second.others().size(), 1U);
  }
  EXPECT_TRUE(first.others().empty());
  {
    RunMark third(place, {"/v"});
    third.may_write({"/a\nb"});
    ASSERT_EQ(first.others().size(), 1U);
    EXPECT_TRUE(first.others()[0].may_have_made("/w", "s", std::numeric_limits<std::int64_t>::max()))
        << "it may write anywhere";
  }
  std::filesystem::remove_all(place);
}

// The kernel's clock for files is behind by up to a tick.
TEST(RunMark, WhatARunMakesAtOnceIsItsOwn) {
  const TestDirectory directory("run-mark-at-once");
  const std::string marks = cat({directory.path(), "/running"});
  const std::string made = cat({directory.path(), "/made"});
  for (int i = 0; i < 50; ++i) {
    const RunMark one(marks, {directory.path()});
    std::filesystem::remove(made);
    std::ofstream(made) << i;
    const auto version = sys::file_version(made);
    ASSERT_TRUE(version);
    const std::vector<OtherRun> others = RunMark(marks, {}).others();
    ASSERT_EQ(others.size(), 1U);
    ASSERT_TRUE(others[0].may_have_made(made, "s", version->changed_ns)) << i;
  }
}

TEST(RunMark, ARunThatWasCutOffIsFoundOnceItHadLookedEverywhere) {
  const std::string place = cat({testing::TempDir(), "/cut-off-", std::to_string(getpid())});
  std::filesystem::create_directories(place);
  const auto put = [&](const std::string& name, const std::string& text) {
    std::ofstream(cat({place, "/", name})) << text;
  };
  const std::string whole = cat({written_text({"/w"}), found_text({{"/w/x", "s"}})});
  put("100", whole);
  put("101", written_text({"/w"}));
  put("102", "");
  put("x103", whole);
  std::vector<std::string> many(30'000, std::string("/r/") + std::string(60, 'r'));
  put("105", cat({written_text({"/w"}), repositories_text(many), found_text({{"/w/x\ny", "s"}})}));
  const RunMark running(place, {"/v"});
  EXPECT_TRUE(running.others().empty());
  EXPECT_TRUE(std::filesystem::exists(cat({place, "/100"})));
  EXPECT_FALSE(std::filesystem::exists(cat({place, "/101"}))) << "its command had not started";
  EXPECT_FALSE(std::filesystem::exists(cat({place, "/102"})));
  put("104", "");
  {
    const auto runs = RunMark::cut_off(place);
    ASSERT_EQ(runs.size(), 2U) << "one is large";
    const bool large_first = runs[0].run.since_ns == 105;
    EXPECT_EQ(runs[large_first ? 0 : 1].run.repositories.size(), many.size());
    EXPECT_EQ(runs[large_first ? 1 : 0].run.found, (FoundStates{{"/w/x", "s"}}));
    EXPECT_TRUE(RunMark::cut_off(place).empty()) << "one caller has it";
  }
  EXPECT_FALSE(std::filesystem::exists(cat({place, "/104"})));
  EXPECT_EQ(RunMark::cut_off(place).size(), 2U) << "until somebody has looked";
  EXPECT_TRUE(running.others().empty());
  std::filesystem::remove_all(place);
}

}  // namespace
}  // namespace hutch::service
