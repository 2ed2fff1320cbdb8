// Two listings compared, and listings of real trees: deep ones, large ones, links that lead out.
#include "sandbox/tree/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/text.h"

namespace hutch::sandbox {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class Tree : public testing::Test {
 protected:
  Tree() : top_(fs::path(testing::TempDir()) / cat({"tree-", info()})) {
    fs::remove_all(top_);
    fs::create_directories(top_);
  }
  ~Tree() override { fs::remove_all(top_); }

  static std::string info() { return testing::UnitTest::GetInstance()->current_test_info()->name(); }
  void write(const std::string& name, const std::string& text = "x") const {
    fs::create_directories((top_ / name).parent_path());
    std::ofstream(top_ / name, std::ios::trunc) << text;
  }
  TreeListing list(const ListingLimits& limits = {}) const { return list_tree(top_.string(), limits).value(); }
  static TreeChanges compare(const TreeListing& before, const TreeListing& after, const ChangesLimits& limits = {}) {
    TreeChanges changes;
    add_changes(before, after, "", limits, changes);
    return changes;
  }
  static std::vector<std::string> lines(const TreeChanges& changes) {
    std::vector<std::string> all;
    for (const FileChange& one : changes.changes) {
      all.push_back(
          cat({name_of(one.change), " ", one.path, one.files > 0 ? cat({" ", std::to_string(one.files)}) : ""}));
    }
    return all;
  }

  fs::path top_;
};

TEST_F(Tree, NothingIsNoChange) {
  write("a/b/c");
  fs::create_symlink("/etc", top_ / "out");
  const TreeChanges changes = compare(list(), list());
  EXPECT_THAT(changes.changes, IsEmpty());
  EXPECT_FALSE(changes.truncated);
}

TEST_F(Tree, AddedModifiedDeleted) {
  write("gone/x");
  write("kept");
  write("same");
  write("size", "1");
  const TreeListing before = list();
  fs::remove_all(top_ / "gone");
  write("size", "12");
  write("new/deep/file");
  fs::create_directory(top_ / "empty");
  EXPECT_THAT(lines(compare(before, list())),
              ElementsAre("added empty/", "deleted gone/x", "added new/deep/file", "modified size"));
}

TEST_F(Tree, ATimeThatIsSetBackHidesNothing) {
  write("f", "1");
  const auto time = fs::last_write_time(top_ / "f");
  const TreeListing before = list();
  write("f", "2");
  fs::last_write_time(top_ / "f", time);
  EXPECT_THAT(lines(compare(before, list())), ElementsAre("modified f"));
}

TEST_F(Tree, AFileThatBecomesADirectory) {
  write("f");
  const TreeListing before = list();
  fs::remove(top_ / "f");
  write("f/inside");
  EXPECT_THAT(lines(compare(before, list())), ElementsAre("modified f"));
}

TEST_F(Tree, LinksAreNotFollowed) {
  fs::create_directory(top_ / "d");
  const TreeListing before = list();
  fs::create_symlink("/usr", top_ / "usr");
  fs::create_symlink("..", top_ / "d/up");
  EXPECT_THAT(lines(compare(before, list())), ElementsAre("added d/up", "added usr"));
}

TEST_F(Tree, WhatProgramsKeepIsOneChange) {
  write("node_modules/old/x");
  write(".git/objects/00/a");
  write(".git/config");
  const TreeListing before = list();
  write("node_modules/new/x");
  write("node_modules/new/y");
  write(".git/objects/01/b");
  write(".git/hooks/post-commit");
  write("sub/__pycache__/m.pyc");
  EXPECT_THAT(lines(compare(before, list())), ElementsAre("added .git/hooks/post-commit", "modified .git/objects/ 1",
                                                          "modified node_modules/ 2", "added sub/__pycache__/ 1"));
}

TEST_F(Tree, BeyondTheLimitOfEntriesNothingIsSaidToHaveComeOrGone) {
  for (int i = 0; i < 20; ++i) write(cat({"f", std::to_string(i)}));
  const TreeListing part = list({.entries_max = 10});
  const TreeListing whole = list();
  EXPECT_LE(part.files.size(), 10U);
  const TreeChanges added = compare(part, whole);
  EXPECT_THAT(added.changes, IsEmpty());
  EXPECT_TRUE(added.truncated);
  const TreeChanges deleted = compare(whole, part);
  EXPECT_THAT(deleted.changes, IsEmpty());
  EXPECT_TRUE(deleted.truncated);
}

TEST_F(Tree, ADeepTreeEndsAtTheLimit) {
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "d/";
  const TreeListing before = list();
  write(deep + "f");
  const TreeListing after = list();
  EXPECT_LE(after.files.size(), 66U);
  const TreeChanges changes = compare(before, after);
  EXPECT_EQ(changes.total, 1U);
  EXPECT_TRUE(changes.truncated);
}

TEST_F(Tree, TheListHasItsLimits) {
  const TreeListing before = list();
  for (int i = 0; i < 20; ++i) write(cat({"f", std::to_string(i)}));
  const TreeListing after = list();
  const TreeChanges few = compare(before, after, {.changes_max = 3});
  EXPECT_EQ(few.changes.size(), 3U);
  EXPECT_EQ(few.total, 20U);
  EXPECT_TRUE(few.truncated);
  EXPECT_LE(compare(before, after, {.bytes_max = 6}).changes.size(), 3U);
}

TEST_F(Tree, ADirectoryThatIsAbsentIsAnError) { EXPECT_FALSE(list_tree((top_ / "nope").string(), {})); }

TEST_F(Tree, NoTimeIsNoWholeListing) {
  write("a/b");
  const TreeListing listing = list({.time_max = std::chrono::milliseconds(0)});
  EXPECT_FALSE(listing.files.front().whole);
}

}  // namespace
}  // namespace hutch::sandbox
