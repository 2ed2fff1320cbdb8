// What the commits of a run have at protected names.
#include "plan/git/authored.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "base/text.h"

namespace hutch::plan {
namespace {

using Outcome = GitAuthoredSearch::Outcome;
using Answered = GitObjectAnswer::Found;

class GitAuthoredTest : public testing::TestWithParam<GitHash> {
 protected:
  std::string put(GitObjectKind kind, std::string bytes) {
    GitObject object{kind, std::move(bytes)};
    std::string name = git_object_name(object, GetParam());
    objects_[name] = {Answered::kYes, std::move(object)};
    return name;
  }
  std::string blob(std::string_view content) {
    return git_object_name({GitObjectKind::kBlob, std::string(content)}, GetParam());
  }
  std::string tree(std::initializer_list<std::pair<std::string, std::string>> entries) {
    std::string bytes;
    for (const auto& [mode_and_name, object] : entries)
      bytes += cat({mode_and_name, std::string_view("\0", 1), object});
    return put(GitObjectKind::kTree, std::move(bytes));
  }
  std::string commit_of(const std::string& top, const std::vector<std::string>& parents = {}) {
    std::string text = cat({"tree ", to_hex(top), "\n"});
    for (const std::string& parent : parents) text += cat({"parent ", to_hex(parent), "\n"});
    text += cat({"author A <a@b> 1 +0000\ncommitter A <a@b> ", std::to_string(++time_), " +0000\n\nx\n"});
    return put(GitObjectKind::kCommit, std::move(text));
  }
  std::string commit(std::string_view content, const std::vector<std::string>& parents = {}) {
    const std::string inner = tree({{"100644 s", blob(content)}});
    return commit_of(tree({{"40000 .vscode", inner}, {"100644 n", blob("n")}}), parents);
  }
  GitAuthoredSearch search(std::vector<std::string> known, GitAuthoredSearch::Limits limits = {}) {
    return {std::move(known),
            [this](std::string_view name) {
              ++asked_;
              const auto found = objects_.find(name);
              return found == objects_.end() ? GitObjectAnswer() : found->second;
            },
            std::move(limits)};
  }
  std::vector<std::string> paths_of(const GitAuthoredSearch& search) {
    std::vector<std::string> paths;
    for (const GitAuthored& one : search.found()) paths.push_back(one.path);
    return paths;
  }

  std::map<std::string, GitObjectAnswer, std::less<>> objects_;
  int time_ = 0;
  int asked_ = 0;
};

TEST_P(GitAuthoredTest, OnlyWhatDiffersFromKnownCommits) {
  const std::string base = commit("base");
  const std::string evil = commit("evil", {base});
  const std::string back = commit("base", {evil});
  auto one = search({base});
  EXPECT_EQ(one.add(back, GetParam()), Outcome::kAll);
  // Both steps: to evil, and back.
  ASSERT_EQ(one.found().size(), 2U);
  EXPECT_EQ(one.found().begin()->path, ".vscode/s");
  auto same = search({base, back});
  EXPECT_EQ(same.add(commit("base", {back}), GetParam()), Outcome::kAll);
  EXPECT_TRUE(same.found().empty());
}

TEST_P(GitAuthoredTest, WhatIsBeforeAKnownCommitIsKnown) {
  std::string at = commit("0");
  std::vector<std::string> all{at};
  for (int i = 1; i < 200; ++i) all.push_back(at = commit(std::to_string(i % 7), {at}));
  auto one = search({all.back()});
  EXPECT_EQ(one.add(commit("new", {all[3]}), GetParam()), Outcome::kAll);
  ASSERT_EQ(one.found().size(), 1U);
  EXPECT_EQ(one.found().begin()->object, blob("new"));
  auto itself = search({all.back()});
  EXPECT_EQ(itself.add(all[5], GetParam()), Outcome::kAll);
  EXPECT_TRUE(itself.found().empty());
}

TEST_P(GitAuthoredTest, CommitsThatNothingNamedBeforeCount) {
  const std::string base = commit("base");
  const std::string hidden = commit("evil", {base});
  auto one = search({base});
  EXPECT_EQ(one.add(commit("evil", {hidden}), GetParam()), Outcome::kAll);
  ASSERT_EQ(one.found().size(), 1U);
  EXPECT_EQ(one.found().begin()->object, blob("evil"));
}

TEST_P(GitAuthoredTest, TagsTreesAndFilesCount) {
  const std::string evil = commit("evil");
  const std::string tag = put(GitObjectKind::kTag, cat({"object ", to_hex(evil), "\ntype commit\ntag v\n\nx\n"}));
  auto one = search({});
  EXPECT_EQ(one.add(tag, GetParam()), Outcome::kAll);
  EXPECT_EQ(paths_of(one), std::vector<std::string>{".vscode/s"});
  auto two = search({});
  EXPECT_EQ(two.add_tree(tree({{"100644 tasks.json", blob("x")}}), "a/.vscode/", GetParam()), Outcome::kAll);
  EXPECT_EQ(two.add_file("docs/x", kGitPlainMode, blob("x")), Outcome::kAll);
  EXPECT_EQ(two.add_file(".mcp.json", 0100664, blob("x")), Outcome::kAll);
  EXPECT_EQ(paths_of(two), (std::vector<std::string>{".mcp.json", "a/.vscode/tasks.json"}));
  EXPECT_EQ(two.found().begin()->mode, kGitPlainMode);
}

TEST_P(GitAuthoredTest, ATreeIsComparedWithKnownCommitsOnly) {
  const std::string base = commit("base");
  const std::string evil = commit("evil", {base});
  const std::string top = read_git_commit(objects_[evil].object.bytes, GetParam())->tree;
  auto one = search({base});
  one.compare_with({base, evil}, GetParam());
  EXPECT_EQ(one.add_tree(top, "", GetParam()), Outcome::kAll);
  EXPECT_EQ(paths_of(one), std::vector<std::string>{".vscode/s"});
  auto two = search({evil});
  two.compare_with({evil}, GetParam());
  EXPECT_EQ(two.add_tree(top, "", GetParam()), Outcome::kAll);
  EXPECT_TRUE(two.found().empty());
}

TEST_P(GitAuthoredTest, WhatTheStoreLacksOrLiesAboutIsSaid) {
  const std::string base = commit("base");
  const std::string evil = commit("evil", {base});
  const std::string top = read_git_commit(objects_[evil].object.bytes, GetParam())->tree;
  const GitObjectAnswer kept = objects_[top];
  objects_.erase(top);
  EXPECT_EQ(search({base}).add(evil, GetParam()), Outcome::kLacking);
  objects_[top] = {Answered::kUnreadable, {}};
  EXPECT_EQ(search({base}).add(evil, GetParam()), Outcome::kUnknown);
  objects_[top] = objects_[base];
  EXPECT_EQ(search({base}).add(evil, GetParam()), Outcome::kUnknown);
  objects_[top] = kept;
  EXPECT_EQ(search({base}).add(commit("x", {std::string(base.size(), 'x')}), GetParam()), Outcome::kLacking);
  // A name that git takes apart by itself.
  const std::string odd = commit_of(tree({{"100644 .vscode/s", blob("evil")}}));
  EXPECT_EQ(search({}).add(odd, GetParam()), Outcome::kUnknown);
}

TEST_P(GitAuthoredTest, LimitsEndInDoubt) {
  std::string at = commit("0");
  for (int i = 1; i < 100; ++i) at = commit(std::to_string(i), {at});
  EXPECT_EQ(search({}).add(at, GetParam()), Outcome::kAll);
  EXPECT_EQ(search({}, {.commits_max = 50}).add(at, GetParam()), Outcome::kUnknown);
  EXPECT_EQ(search({}, {.trees_max = 50}).add(at, GetParam()), Outcome::kUnknown);
  EXPECT_EQ(search({}, {.found_max = 50}).add(at, GetParam()), Outcome::kUnknown);
  EXPECT_EQ(search({}, {.bytes_max = 500}).add(at, GetParam()), Outcome::kUnknown);
  EXPECT_EQ(search({}, {.has_time = [] { return false; }}).add(at, GetParam()), Outcome::kUnknown);
}

INSTANTIATE_TEST_SUITE_P(Hashes, GitAuthoredTest, testing::Values(GitHash::kSha1, GitHash::kSha256));

}  // namespace
}  // namespace hutch::plan
