// Which rules bring a repository along, and which of the user's keep it outside.
#include "host/paths/repository_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/directory_testing.h"
#include "base/text.h"
#include "policy/decide.h"

namespace hutch::host {
namespace {

using policy::Origin;
using policy::Rule;
using policy::Verb;

class RepositoryRulesTest : public testing::Test {
 protected:
  RepositoryRulesTest() : top_(std::filesystem::canonical(directory_.path()).string()) {
    for (const char* name : {"r/.git/objects", "r/.git/refs", "r/.git/logs", "r/.git/worktrees/w", "w"}) {
      std::filesystem::create_directories(in(name));
    }
  }

  std::string in(const std::string& path) const { return cat({top_, "/", path}); }
  OuterRepository worktree() const {
    return {OuterRepository::Kind::kLinkedWorktree, in("w"), in("r/.git"), in("r/.git/worktrees/w")};
  }
  // Everything is hidden but the work tree, which may be written.
  std::vector<Rule> usual() const {
    return {{.verb = Verb::kDenyRead, .path = top_},
            {.verb = Verb::kAllowRead, .path = in("w")},
            {.verb = Verb::kAllowWrite, .path = in("w")}};
  }
  std::vector<Rule> with(std::vector<Rule> rules, HeldBy by) const {
    const RepositoryRules found = repository_rules(worktree(), rules, {.by = by});
    rules.insert(rules.end(), found.rules.begin(), found.rules.end());
    return rules;
  }
  bool may_write(const std::vector<Rule>& rules, const std::string& path) const {
    return policy::decide(rules, policy::Access::kWrite, in(path)).allowed;
  }

  TestDirectory directory_{"repository-rules"};
  const std::string top_;
};

TEST_F(RepositoryRulesTest, WhatGitWritesAndNoMore) {
  for (const HeldBy by : {HeldBy::kMounts, HeldBy::kNames}) {
    const std::vector<Rule> rules = with(usual(), by);
    for (const char* path : {"objects/ab/x", "refs/heads/x", "logs/refs/heads/x", "worktrees/w/HEAD"}) {
      EXPECT_TRUE(may_write(rules, cat({"r/.git/", path}))) << path;
    }
    for (const char* path : {"HEAD", "index", "hooks/x", "config", "info/exclude", "objects/info/alternates",
                             "refs/bisect/bad", "logs/HEAD", "worktrees/other/HEAD", "worktrees/w/gitdir",
                             "worktrees/w/commondir", "worktrees/w/config.worktree"}) {
      EXPECT_FALSE(may_write(rules, cat({"r/.git/", path}))) << path;
    }
    EXPECT_FALSE(may_write(rules, "r/file"));
  }
}

TEST_F(RepositoryRulesTest, ByNamesEachNewNameOfTheRepositoryIsHeld) {
  const RepositoryRules found = repository_rules(worktree(), usual(), {.by = HeldBy::kNames});
  ASSERT_EQ(found.names.size(), 1);
  EXPECT_EQ(found.names[0].pattern, in("r/.git/*"));
  const auto lifts = [&](const std::string& path) { return std::ranges::count(found.names[0].lifted, path) == 1; };
  EXPECT_TRUE(lifts(in("r/.git/packed-refs.lock")));
  EXPECT_TRUE(lifts(in("r/.git/config.lock")));
  EXPECT_FALSE(lifts(in("r/.git/config")));
}

TEST_F(RepositoryRulesTest, WhatKeepsItOutside) {
  const auto stays = [&](Rule more) {
    std::vector<Rule> rules = usual();
    rules.push_back(std::move(more));
    return repository_rules(worktree(), rules, {}).rules.empty();
  };
  EXPECT_TRUE(stays({.verb = Verb::kDenyRead, .path = in("r")}));
  EXPECT_TRUE(stays({.verb = Verb::kDenyRead, .path = in("r/.git")}));
  EXPECT_TRUE(stays({.verb = Verb::kPlace, .place = policy::Place::kPrivate, .path = in("r")}));
  OuterRepository by_sandbox = worktree();
  by_sandbox.linked_by = OuterRepository::LinkedBy::kSandbox;
  EXPECT_TRUE(repository_rules(by_sandbox, usual(), {}).rules.empty());
}

TEST_F(RepositoryRulesTest, ItIsNoMoreThanTheWorkTree) {
  std::vector<Rule> reads = usual();
  reads.pop_back();
  const RepositoryRules found = repository_rules(worktree(), reads, {});
  ASSERT_EQ(found.rules.size(), 1);
  EXPECT_EQ(found.rules[0].verb, Verb::kAllowRead);
  const std::vector<Rule> hidden = {{.verb = Verb::kDenyRead, .path = top_}};
  EXPECT_TRUE(repository_rules(worktree(), hidden, {}).rules.empty());
}

TEST_F(RepositoryRulesTest, ADirectoryThatOnlyLooksLikeARepository) {
  OuterRepository odd = worktree();
  std::filesystem::rename(in("r/.git"), in("r/bare"));
  odd.git = in("r/bare");
  EXPECT_TRUE(repository_rules(odd, usual(), {}).rules.empty());
}

TEST_F(RepositoryRulesTest, LinksAmongItsDirectories) {
  std::filesystem::remove(in("r/.git/logs"));
  std::filesystem::create_directory_symlink(top_, in("r/.git/logs"));
  EXPECT_FALSE(may_write(with(usual(), HeldBy::kMounts), "r/file"));
  std::filesystem::remove(in("r/.git/objects"));
  std::filesystem::create_directory_symlink(top_, in("r/.git/objects"));
  EXPECT_TRUE(repository_rules(worktree(), usual(), {}).rules.empty());
}

}  // namespace
}  // namespace hutch::host
