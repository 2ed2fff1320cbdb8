// Which repositories are kept from one sandbox to the next, and what is said of too many.
#include "service/git/deep_repositories.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/directory_testing.h"
#include "base/text.h"

namespace hutch::service {
namespace {

using Paths = std::vector<std::string>;
using enum DeepRepositories::Which;

class Deep : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return cat({std::string(top_.path()), "/", name}); }
  DeepRepositories kept() const { return DeepRepositories(std::string(top_.path())); }
  std::string made(const std::string& name) const {
    std::filesystem::create_directories(path(name));
    return path(name);
  }

  const TestDirectory top_{"deep-repositories"};
};

TEST_F(Deep, OneRunKeepsThemForTheNext) {
  EXPECT_EQ(kept().below({"/"}, kAll), Paths());
  kept().keep({"/p/a/.git", "/p/b\nc/.git"}, {"/p"});
  kept().keep({"/p/a/.git", "/q/.git"}, {"/q"});
  EXPECT_EQ(kept().below({"/p"}, kAll), (Paths{"/p/a/.git", "/p/b\nc/.git"}));
  EXPECT_EQ(kept().below({"/p/a", "/q"}, kAll), (Paths{"/p/a/.git", "/q/.git"}));
  EXPECT_EQ(kept().below({"/p/ab"}, kAll), Paths());
  EXPECT_TRUE(kept().are_all_below({"/"}));
}

TEST_F(Deep, WhatIsGoneIsNotThere) {
  const std::string there = made("there");
  kept().keep({there, path("gone")}, {});
  EXPECT_EQ(kept().below({"/"}, kThere), Paths{there});
  EXPECT_EQ(kept().below({"/"}, kAll), (Paths{path("gone"), there}));
}

TEST_F(Deep, WhereEarlierRunsBegan) {
  kept().keep({}, {"/p/a/b", "/p"});
  kept().keep({}, {"/p/a/b", "/q/\n"});
  EXPECT_EQ(kept().roots_below({"/p"}), Paths{"/p/a/b"});
  EXPECT_EQ(kept().roots_below({"/"}), (Paths{"/p", "/p/a/b", "/q/\n"}));
  EXPECT_EQ(kept().roots_below({"/p/a/b"}), Paths());
}

TEST_F(Deep, ThoseThatAreGoneMakeRoom) {
  Paths gone;
  for (int i = 0; i < 4096; ++i) gone.push_back(cat({"/nowhere/", std::to_string(i)}));
  const std::string there = made("there");
  kept().keep({there}, {"/"});
  kept().keep(gone, {"/nowhere"});
  EXPECT_TRUE(kept().are_all_below({there}));
  EXPECT_EQ(kept().below({there}, kAll), Paths{there});
  const std::string other = made("other");
  kept().keep({other}, {other});
  EXPECT_EQ(kept().below({std::string(top_.path())}, kAll), (Paths{other, there}));
}

TEST_F(Deep, WhereNoRoomIsLeftItIsSaid) {
  Paths many;
  for (int i = 0; i < 4096; ++i) many.push_back(made(std::to_string(i)));
  kept().keep(many, {std::string(top_.path())});
  kept().keep({"/p/x/.git"}, {"/p"});
  EXPECT_FALSE(kept().are_all_below({"/p/x"}));
  EXPECT_FALSE(kept().are_all_below({"/"}));
  EXPECT_TRUE(kept().are_all_below({"/q"}));
  EXPECT_EQ(kept().below({std::string(top_.path())}, kAll).size(), many.size());
}

// The new one ends with the whole path of the other.
TEST_F(Deep, ANewOneDropsNoOther) {
  Paths many;
  for (int i = 0; i < 4095; ++i) many.push_back(made(std::to_string(i)));
  const std::string other = made("other");
  many.push_back(other);
  kept().keep(many, {"/"});
  kept().keep({cat({path("0"), other})}, {"/"});
  EXPECT_EQ(kept().below({other}, kAll), Paths{other});
}

TEST_F(Deep, AFileOfAnotherKindIsNoList) {
  std::ofstream(path("git-worked")) << "p/x\n\n*\n+\n/half";
  EXPECT_EQ(kept().below({"/"}, kAll), Paths());
  EXPECT_EQ(kept().roots_below({"/"}), Paths());
  EXPECT_TRUE(kept().are_all_below({"/"}));
}

}  // namespace
}  // namespace hutch::service
