// What the host is told of the repositories in which a sandbox works.
#include "guest/git/worked_repositories.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hutch::guest {
namespace {

using enum wire::Repository::Event;
using Paths = std::vector<std::string>;

// All that the host is told until the call goes on, "!" before an operation.
Paths told(WorkedRepositories& worked, std::string_view path, const plan::GuardedNames& names) {
  Paths all;
  while (const auto one = worked.to_tell(path, names)) all.push_back((one->event == kWrites ? "!" : "") + one->path);
  return all;
}

TEST(WorkedRepositories, EachIsToldOnce) {
  WorkedRepositories worked;
  const plan::GuardedNames names{.rules = {}, .configs = {"/p/.git/config"}};
  EXPECT_EQ(told(worked, "/p/file", names), Paths());
  EXPECT_EQ(told(worked, "/p/.git/HEAD", names), Paths()) << "the search found it";
  EXPECT_EQ(told(worked, "/p/a/.git/HEAD", names), Paths{"/p/a/.git"});
  EXPECT_EQ(told(worked, "/p/a/.git/index", names), Paths());
}

TEST(WorkedRepositories, EachOperationIsToldOnce) {
  WorkedRepositories worked;
  const plan::GuardedNames names{.rules = {}, .configs = {"/p/.git/config"}};
  EXPECT_EQ(told(worked, "/p/.git/rebase-merge/done", names), Paths{"!/p/.git/rebase-merge"});
  EXPECT_EQ(told(worked, "/p/.git/rebase-merge/git-rebase-todo", names), Paths());
  EXPECT_EQ(told(worked, "/p/a/.git/MERGE_RR.lock", names), (Paths{"/p/a/.git", "!/p/a/.git/MERGE_RR"}));
  EXPECT_TRUE(worked.moved("/p/a", "/p/b", names));
  EXPECT_EQ(told(worked, "/p/b/.git/MERGE_RR", names), Paths()) << "the host has moved it too";
  EXPECT_EQ(told(worked, "/p/a/.git/MERGE_RR", names), (Paths{"/p/a/.git", "!/p/a/.git/MERGE_RR"})) << "another one";
  EXPECT_FALSE(worked.moved("/p/x", "/p/.git/rebase-merge", names));
  EXPECT_EQ(told(worked, "/p/.git/rebase-merge", names), Paths()) << "the call is not to begin anew";
  EXPECT_FALSE(worked.moved("/p/.git/MERGE_RR.lock", "/p/.git/MERGE_RR", names));
  EXPECT_TRUE(worked.ends("/p/.git/rebase-merge"));
  EXPECT_FALSE(worked.ends("/p/.git/rebase-merge"));
  EXPECT_EQ(told(worked, "/p/.git/rebase-merge/done", names), Paths{"!/p/.git/rebase-merge"}) << "another one";
  Paths all;
  for (int i = 0; i < 2000; ++i) {
    for (auto& one : told(worked, "/p/.git/BISECT_" + std::to_string(i), names)) all.push_back(std::move(one));
  }
  EXPECT_LT(all.size(), 2000U);
  EXPECT_EQ(all.back(), "!");
}

TEST(WorkedRepositories, WhatMovesIsTold) {
  WorkedRepositories worked;
  const plan::GuardedNames names{.rules = {}, .configs = {"/p/s/.git/config"}};
  (void)told(worked, "/p/a/b/.git/HEAD", names);
  (void)told(worked, "/p/ab/.git/HEAD", names);
  EXPECT_TRUE(worked.moved("/p/a", "/p/c/d", names));
  EXPECT_EQ(told(worked, "/p/c/d/b/.git/index", names), Paths());
  EXPECT_EQ(told(worked, "/p/a/b/.git/index", names), Paths{"/p/a/b/.git"}) << "another one by that name";
  EXPECT_TRUE(worked.moved("/p/s", "/p/t", names)) << "the search has found it by another name";
  EXPECT_TRUE(worked.moved("/p/c/d", "/p/e", names));
  EXPECT_FALSE(worked.moved("/p/x", "/p/y", names));
  EXPECT_EQ(told(worked, "/p/e/b/.git/index", names), Paths());
}

TEST(WorkedRepositories, AMoveIsAnnouncedOnceForACall) {
  WorkedRepositories worked;
  const plan::GuardedNames names{.rules = {}, .configs = {"/p/s/.git/config"}};
  worked.know({"/p/a/b/.git"});
  EXPECT_EQ(told(worked, "/p/a/b/.git/HEAD", names), Paths());
  EXPECT_TRUE(worked.moves(1, "/p/a", "/p/c", names));
  EXPECT_FALSE(worked.moves(1, "/p/a", "/p/c", names)) << "the call comes again";
  EXPECT_TRUE(worked.moves(2, "/p/a", "/p/c", names));
  EXPECT_TRUE(worked.moves(3, "/p/a", "/p/c", names)) << "the second one was given up";
  EXPECT_TRUE(worked.moves(4, "/p/s", "/p/t", names));
  EXPECT_FALSE(worked.moves(5, "/p/x", "/p/y", names));
  for (std::uint64_t i = 10; i < 1000; ++i) EXPECT_TRUE(worked.moves(i, "/p/a", "/p/" + std::to_string(i), names));
}

TEST(WorkedRepositories, KnownOnesTakeNoPlace) {
  WorkedRepositories worked;
  const plan::GuardedNames names;
  std::vector<std::string> known;
  for (int i = 0; i < 2000; ++i) known.push_back("/p/k/" + std::to_string(i) + "/.git");
  worked.know(known);
  EXPECT_TRUE(worked.moved("/p/k", "/p/l", names));
  EXPECT_EQ(told(worked, "/p/l/7/.git/HEAD", names), Paths());
  EXPECT_EQ(told(worked, "/p/new/.git/HEAD", names), Paths{"/p/new/.git"});
}

TEST(WorkedRepositories, OfTooManyTheHostHearsOnce) {
  WorkedRepositories worked;
  const plan::GuardedNames names;
  int too_many = 0;
  for (int i = 0; i < 5000; ++i) {
    const Paths all = told(worked, "/p/" + std::to_string(i) + "/.git/HEAD", names);
    if (i < 1024) EXPECT_EQ(all.size(), 1U);
    too_many += all == Paths{""} ? 1 : 0;
  }
  EXPECT_EQ(too_many, 1);
  EXPECT_TRUE(worked.moved("/p/1", "/p/2", names));
}

}  // namespace
}  // namespace hutch::guest
