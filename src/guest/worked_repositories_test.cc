// What the host is told of the repositories in which a sandbox works.
#include "guest/worked_repositories.h"

#include <gtest/gtest.h>

#include <string>

namespace hutch::guest {
namespace {

using Knows = WorkedRepositories::Knows;

TEST(WorkedRepositories, EachIsToldOnce) {
  WorkedRepositories worked;
  const plan::GuardedNames names{.rules = {}, .configs = {"/p/.git/config"}};
  EXPECT_EQ(worked.tell("/p/file", names).knows, Knows::kYes);
  EXPECT_EQ(worked.tell("/p/.git/HEAD", names).knows, Knows::kYes) << "the search found it";
  const WorkedRepositories::Told first = worked.tell("/p/a/.git/HEAD", names);
  EXPECT_EQ(first.knows, Knows::kNo);
  EXPECT_EQ(first.directory, "/p/a/.git");
  EXPECT_EQ(worked.tell("/p/a/.git/index", names).knows, Knows::kYes);
}

TEST(WorkedRepositories, WhatMovesIsTold) {
  WorkedRepositories worked;
  const plan::GuardedNames names{.rules = {}, .configs = {"/p/s/.git/config"}};
  (void)worked.tell("/p/a/b/.git/HEAD", names);
  (void)worked.tell("/p/ab/.git/HEAD", names);
  EXPECT_TRUE(worked.moved("/p/a", "/p/c/d", names));
  EXPECT_EQ(worked.tell("/p/c/d/b/.git/index", names).knows, Knows::kYes);
  EXPECT_EQ(worked.tell("/p/a/b/.git/index", names).knows, Knows::kNo) << "another one by that name";
  EXPECT_TRUE(worked.moved("/p/s", "/p/t", names)) << "the search has found it by another name";
  EXPECT_TRUE(worked.moved("/p/c/d", "/p/e", names));
  EXPECT_FALSE(worked.moved("/p/x", "/p/y", names));
  EXPECT_EQ(worked.tell("/p/e/b/.git/index", names).knows, Knows::kYes);
}

TEST(WorkedRepositories, AMoveIsAnnouncedOnceForACall) {
  WorkedRepositories worked;
  const plan::GuardedNames names{.rules = {}, .configs = {"/p/s/.git/config"}};
  worked.know({"/p/a/b/.git"});
  EXPECT_EQ(worked.tell("/p/a/b/.git/HEAD", names).knows, Knows::kYes);
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
  EXPECT_EQ(worked.tell("/p/l/7/.git/HEAD", names).knows, Knows::kYes);
  EXPECT_EQ(worked.tell("/p/new/.git/HEAD", names).knows, Knows::kNo);
}

TEST(WorkedRepositories, OfTooManyTheHostHearsOnce) {
  WorkedRepositories worked;
  const plan::GuardedNames names;
  int too_many = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto told = worked.tell("/p/" + std::to_string(i) + "/.git/HEAD", names);
    if (i < 1024) EXPECT_EQ(told.knows, Knows::kNo);
    too_many += told.knows == Knows::kTooMany ? 1 : 0;
  }
  EXPECT_EQ(too_many, 1);
  EXPECT_TRUE(worked.moved("/p/1", "/p/2", names));
}

}  // namespace
}  // namespace hutch::guest
