// Which repositories are kept from one sandbox to the next, and what is said of too many.
#include "service/deep_repositories.h"

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

class Deep : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return cat({std::string(top_.path()), "/", name}); }
  DeepRepositories kept() const { return DeepRepositories(std::string(top_.path())); }

  const TestDirectory top_{"deep-repositories"};
};

TEST_F(Deep, OneRunKeepsThemForTheNext) {
  EXPECT_EQ(kept().below({"/"}), Paths());
  kept().keep({"/p/a/.git", "/p/b\nc/.git"}, {"/p"});
  kept().keep({"/p/a/.git", "/q/.git"}, {"/q"});
  EXPECT_EQ(kept().below({"/p"}), (Paths{"/p/a/.git", "/p/b\nc/.git"}));
  EXPECT_EQ(kept().below({"/p/a", "/q"}), (Paths{"/p/a/.git", "/q/.git"}));
  EXPECT_EQ(kept().below({"/p/ab"}), Paths());
  EXPECT_TRUE(kept().are_all_below({"/"}));
}

TEST_F(Deep, ThoseThatAreGoneMakeRoom) {
  Paths gone;
  for (int i = 0; i < 4096; ++i) gone.push_back(cat({"/nowhere/", std::to_string(i)}));
  const std::string there = path("there");
  std::filesystem::create_directory(there);
  kept().keep({there}, {"/"});
  kept().keep(gone, {"/nowhere"});
  EXPECT_TRUE(kept().are_all_below({there}));
  EXPECT_EQ(kept().below({there}), Paths{there});
  const std::string other = path("other");
  std::filesystem::create_directory(other);
  kept().keep({other}, {other});
  EXPECT_EQ(kept().below({std::string(top_.path())}), (Paths{other, there}));
}

TEST_F(Deep, WhereNoRoomIsLeftItIsSaid) {
  Paths many;
  for (int i = 0; i < 4096; ++i) many.push_back(path(std::to_string(i)));
  for (const std::string& one : many) std::filesystem::create_directory(one);
  kept().keep(many, {std::string(top_.path())});
  kept().keep({"/p/x/.git"}, {"/p"});
  EXPECT_FALSE(kept().are_all_below({"/p/x"}));
  EXPECT_FALSE(kept().are_all_below({"/"}));
  EXPECT_TRUE(kept().are_all_below({"/q"}));
  EXPECT_EQ(kept().below({std::string(top_.path())}).size(), many.size());
}

TEST_F(Deep, AFileOfAnotherKindIsNoList) {
  std::ofstream(path("git-worked")) << "p/x\n\n*\n/half";
  EXPECT_EQ(kept().below({"/"}), Paths());
  EXPECT_TRUE(kept().are_all_below({"/"}));
}

}  // namespace
}  // namespace hutch::service
