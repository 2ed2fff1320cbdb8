// Where the work trees of submodules' repositories lead.
#include "service/git/module_trees.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/directory_testing.h"
#include "base/text.h"

namespace hutch::service {
namespace {

namespace fs = std::filesystem;
using enum GitModuleTree::Leads;

class ModuleTrees : public testing::Test {
 protected:
  // A submodule "sub", as git makes one.
  void SetUp() override {
    fs::create_directories(path(".git/modules/sub"));
    fs::create_directories(path("sub"));
    names("../../../sub");
    write("sub/.git", "gitdir: ../.git/modules/sub\n\n");
  }
  std::string path(const std::string& name) const { return cat({std::string(fs::canonical(top_.path())), "/", name}); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  void names(const std::string& tree) const {
    write(".git/modules/sub/config", cat({"[core]\n\tbare = false\n\tworktree = ", tree, "\n"}));
  }
  GitModuleTree::Leads leads() const { return git_module_tree(path(".git/modules/sub")).leads; }
  std::vector<std::string> taken(const GitModuleTrees& trees) const {
    std::vector<std::string> paths;
    for (const auto& found : trees.look({path(".git/modules/sub")})) paths.push_back(found.path);
    return paths;
  }

  const TestDirectory top_{"module-trees"};
};

TEST_F(ModuleTrees, WhereTheyLead) {
  EXPECT_EQ(leads(), kOwn);
  names("../../../absent");
  EXPECT_EQ(leads(), kNone);
  fs::create_directories(path("other"));
  for (const char* tree :
       {"../../../other", "../../..", "../../hooks", "../../../../up", "/", "../../../sub/../.git/x"}) {
    names(tree);
    EXPECT_EQ(leads(), kElsewhere) << tree;
  }
  write("other/.git", "gitdir: ../.git/modules/other\n");
  names("../../../other");
  EXPECT_EQ(leads(), kElsewhere) << "that of another repository";
  write("other/.git", "gitdir: ../.git/modules/sub\n");
  EXPECT_EQ(leads(), kOwn);
  fs::create_directory_symlink("other", path("link"));
  names("../../../link");
  EXPECT_EQ(leads(), kLink);
  names("../../../link/deeper");
  EXPECT_EQ(leads(), kLink);
  names(path("other"));
  EXPECT_EQ(leads(), kOwn) << "an absolute path as well";
  EXPECT_EQ(git_module_tree(path(".git")).leads, kNone);
}

TEST_F(ModuleTrees, WhatIsTakenAway) {
  const GitModuleTrees nobodys;
  GitModuleTrees users;
  users.remember({path(".git/modules/sub")});
  EXPECT_TRUE(taken(nobodys).empty());
  fs::rename(path("sub"), path("moved"));
  EXPECT_TRUE(taken(users).empty());
  fs::create_directory_symlink(".git/hooks", path("sub"));
  EXPECT_EQ(taken(users), std::vector{path("sub")}) << "of the user's configuration the link";
  EXPECT_EQ(taken(nobodys), std::vector{path(".git/modules/sub/config")});
  GitModuleTrees with_link;
  with_link.remember({path(".git/modules/sub")});
  EXPECT_TRUE(taken(with_link).empty()) << "the user's own link";
  fs::remove(path("sub"));
  fs::create_directories(path("sub"));
  EXPECT_TRUE(taken(users).empty()) << "an empty directory of a submodule that is not checked out";
  EXPECT_EQ(taken(nobodys), std::vector{path(".git/modules/sub/config")});
  names("../../../moved/x");
  fs::create_directories(path("moved/x"));
  EXPECT_EQ(taken(users), std::vector{path(".git/modules/sub/config")}) << "another work tree than the user's";
}

}  // namespace
}  // namespace hutch::service
