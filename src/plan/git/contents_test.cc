// Which contents count as the user's, of a store that may lie.
#include "plan/git/contents.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "plan/git/authored.h"

namespace hutch::plan {
namespace {

using Found = GitContents::Found;
constexpr GitHash kHash = GitHash::kSha1;

class GitContentsTest : public testing::Test {
 protected:
  std::string put(GitObjectKind kind, std::string bytes) {
    GitObject object{kind, std::move(bytes)};
    std::string name = git_object_name(object, kHash);
    objects_[name] = std::move(object);
    return name;
  }
  std::string blob(std::string_view content) {
    return git_object_name({GitObjectKind::kBlob, std::string(content)}, kHash);
  }
  std::string tree(std::initializer_list<std::pair<std::string, std::string>> entries) {
    std::string bytes;
    for (const auto& [mode_and_name, object] : entries)
      bytes += cat({mode_and_name, std::string_view("\0", 1), object});
    return put(GitObjectKind::kTree, std::move(bytes));
  }
  // A commit with ".vscode/s" of that content; without one if it is empty.
  std::string commit(std::string_view content, std::vector<std::string> parents = {},
                     std::string_view mode = "100644") {
    const std::string inner = tree({{cat({mode, " s"}), blob(content)}});
    const std::string top = content.empty() ? tree({{"100644 n", blob("n")}}) : tree({{"40000 .vscode", inner}});
    std::string text = cat({"tree ", to_hex(top), "\n"});
    for (const std::string& parent : parents) text += cat({"parent ", to_hex(parent), "\n"});
    text += cat({"author A <a@b> 1 +0000\ncommitter A <a@b> ", std::to_string(++time_), " +0000\n\nx\n"});
    return put(GitObjectKind::kCommit, std::move(text));
  }
  void users(const std::string& name) { known_.commits.push_back({KnownCommit::Whose::kUsers, to_hex(name)}); }
  // With what it and its parents have.
  void sandboxes(const std::string& name) {
    known_.commits.push_back({KnownCommit::Whose::kSandboxes, to_hex(name)});
    GitAuthoredSearch search(known_ends(known_), [this](std::string_view one) { return look_up(one); }, {});
    EXPECT_EQ(search.add(name, kHash), GitAuthoredSearch::Outcome::kAll);
    known_.listed.insert(to_hex(name));
    for (const GitAuthored& one : search.found()) {
      known_.authored.try_emplace(authored_key(one.path, one.mode, one.object), known_.commits.size());
    }
  }
  GitObjectAnswer look_up(std::string_view name) const {
    const auto found = objects_.find(name);
    if (found == objects_.end()) return {};
    return {GitObjectAnswer::Found::kYes, found->second};
  }
  GitContents contents(GitContents::Limits limits = {}) {
    return {known_,
            [this](std::string_view name) {
              const auto found = objects_.find(name);
              return found == objects_.end() ? std::optional<GitObject>() : std::optional(found->second);
            },
            std::move(limits)};
  }
  Found find(std::string_view content, std::uint32_t mode = kGitPlainMode) {
    return contents().find(".vscode/s", mode, content);
  }

  std::map<std::string, GitObject, std::less<>> objects_;
  KnownCommits known_;
  int time_ = 0;
};

TEST_F(GitContentsTest, AReferenceOfTheUsersAndWhatIsBeforeItCount) {
  const std::string first = commit("old");
  users(commit("new", {commit("middle", {first})}));
  EXPECT_EQ(find("new"), Found::kAtReference);
  EXPECT_EQ(find("middle"), Found::kOlder);
  EXPECT_EQ(find("old"), Found::kOlder);
  EXPECT_EQ(find("other"), Found::kNo);
}

TEST_F(GitContentsTest, PathAndModeCount) {
  users(commit("x", {}, "100755"));
  EXPECT_EQ(find("x"), Found::kNo);
  EXPECT_EQ(find("x", kGitProgramMode), Found::kAtReference);
  EXPECT_EQ(find("x", kGitLinkMode), Found::kNo);
  EXPECT_EQ(contents().find(".vscode/t", kGitProgramMode, "x"), Found::kNo);
  EXPECT_EQ(contents().find("s", kGitProgramMode, "x"), Found::kNo);
  EXPECT_EQ(contents().find("a/.vscode/s", kGitProgramMode, "x"), Found::kNo);
}

TEST_F(GitContentsTest, AnObjectThatLiesCountsForNothing) {
  const std::string evil = commit("evil");
  const std::string good = commit("good");
  users(good);
  objects_[good] = objects_[evil];
  EXPECT_EQ(find("evil"), Found::kNo);
  const std::string another = commit("another");
  users(another);
  const GitCommit read = *read_git_commit(objects_[another].bytes, kHash);
  objects_[read.tree] = objects_[read_git_commit(objects_[evil].bytes, kHash)->tree];
  EXPECT_EQ(find("evil"), Found::kNo);
  EXPECT_EQ(find("another"), Found::kNo);
}

TEST_F(GitContentsTest, ASandboxesCommitLeadsNoFurther) {
  const std::string base = commit("base");
  users(base);
  const std::string hidden = commit("evil", {base});
  const std::string left = commit("base", {hidden});
  sandboxes(left);
  users(commit("mine", {left}));
  EXPECT_EQ(find("mine"), Found::kAtReference);
  EXPECT_EQ(find("base"), Found::kAtReference);
  EXPECT_EQ(find("evil"), Found::kNo);
}

// The user commits what a sandbox has put into the index.
TEST_F(GitContentsTest, WhatASandboxHadFirstIsNotTheUsersLater) {
  const std::string base = commit("base");
  users(base);
  const std::string left = commit("evil", {base});
  sandboxes(left);
  users(commit("evil", {left}));
  users(commit("evil", {base}));
  EXPECT_EQ(find("evil"), Found::kNo);
  EXPECT_EQ(find("base"), Found::kAtReference);
}

// The store is not asked for what a run had left.
TEST_F(GitContentsTest, WhatASandboxHadIsKnownWithoutItsObjects) {
  const std::string base = commit("base");
  users(base);
  const std::string left = commit("evil", {base});
  sandboxes(left);
  const std::string tag = put(GitObjectKind::kTag, cat({"object ", to_hex(left), "\ntype commit\ntag v1\n\nx\n"}));
  users(commit("evil", {base}));
  users(tag);
  EXPECT_EQ(find("evil"), Found::kNo);
  objects_.erase(left);
  EXPECT_EQ(find("evil"), Found::kNo);
}

TEST_F(GitContentsTest, WhatTheUserHadFirstStaysTheirs) {
  const std::string base = commit("base");
  const std::string older = commit("older");
  users(commit("tip", {base, older}));
  sandboxes(older);
  sandboxes(commit("base", {older}));
  users(commit("again", {base}));
  EXPECT_EQ(find("older"), Found::kOlder);
  EXPECT_EQ(find("base"), Found::kOlder);
}

TEST_F(GitContentsTest, TagsAreFollowed) {
  const std::string tagged = commit("tagged");
  users(put(GitObjectKind::kTag, cat({"object ", to_hex(tagged), "\ntype commit\ntag v1\n\nx\n"})));
  EXPECT_EQ(find("tagged"), Found::kAtReference);
}

TEST_F(GitContentsTest, AbsentOnlyWhereAReferenceSaysSo) {
  users(commit("x"));
  const auto is_missing = [&](const char* path) { return contents().at_references(path).is_missing; };
  const auto is_somewhere = [&](const char* path) { return contents().at_references(path).is_somewhere; };
  EXPECT_FALSE(is_missing(".vscode/s"));
  EXPECT_TRUE(is_missing(".vscode/t"));
  sandboxes(commit(""));
  EXPECT_FALSE(is_missing(".vscode/s"));
  users(commit(""));
  EXPECT_TRUE(is_missing(".vscode/s"));
  EXPECT_TRUE(is_somewhere(".vscode/s"));
  EXPECT_FALSE(is_somewhere(".vscode/t"));
  EXPECT_FALSE(is_somewhere(".vscode"));
}

TEST_F(GitContentsTest, NothingIsKnownWithoutTimeOrAList) {
  users(commit("x"));
  EXPECT_EQ(contents({.has_time = [] { return false; }}).find(".vscode/s", kGitPlainMode, "x"), Found::kNo);
  EXPECT_FALSE(contents({.has_time = [] { return false; }}).at_references(".vscode/t").is_missing);
  known_.is_broken = true;
  EXPECT_EQ(find("x"), Found::kNo);
  EXPECT_FALSE(contents().at_references(".vscode/t").is_missing);
}

TEST(GitObjects, TreesThatGitCouldReadInAnotherWayAreBroken) {
  const std::string name(20, 'x');
  const std::string entry = cat({"100644 a", std::string_view("\0", 1), name});
  using enum GitTreeLookup::Found;
  EXPECT_EQ(find_in_git_tree(entry, "a", kHash).found, kYes);
  EXPECT_EQ(find_in_git_tree(entry, "b", kHash).found, kNo);
  EXPECT_EQ(find_in_git_tree(entry + entry, "a", kHash).found, kBroken);
  EXPECT_EQ(find_in_git_tree(entry.substr(0, entry.size() - 1), "b", kHash).found, kBroken);
  EXPECT_EQ(find_in_git_tree("10x644 a" + entry.substr(8), "a", kHash).found, kBroken);
  EXPECT_EQ(find_in_git_tree("", "a", kHash).found, kNo);
}

// As `git hash-object` says.
TEST(GitObjects, NamesAreThoseOfGit) {
  const GitObject object{GitObjectKind::kBlob, "content\n"};
  EXPECT_EQ(to_hex(git_object_name(object, GitHash::kSha1)), "d95f3ad14dee633a758d2e331151e950dd13e4ed");
  EXPECT_EQ(git_object_name(object, GitHash::kSha256).size(), 32U);
}

}  // namespace
}  // namespace hutch::plan
