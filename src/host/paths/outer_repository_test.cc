// Directories whose repository lies elsewhere, and files that only say so.
#include "host/paths/outer_repository.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/directory_testing.h"
#include "base/text.h"
#include "plan/git/files.h"

namespace hutch::host {
namespace {

using enum OuterRepository::Kind;

class OuterRepositoryTest : public testing::Test {
 protected:
  OuterRepositoryTest() : top_(std::filesystem::canonical(directory_.path()).string()) {}

  std::string make(const std::string& path) {
    std::filesystem::create_directories(in(path));
    return in(path);
  }
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(in(path)).parent_path());
    std::ofstream(in(path)) << text;
  }
  std::string repository(const std::string& path) {
    write(cat({path, "/HEAD"}), "ref: refs/heads/main\n");
    make(cat({path, "/objects"}));
    make(cat({path, "/refs"}));
    return in(path);
  }
  std::string linked_worktree() {
    repository("r/.git");
    write("r/.git/worktrees/w/commondir", "../..\n");
    write("r/.git/worktrees/w/gitdir", cat({in("w/.git"), "\n"}));
    write("w/.git", cat({"gitdir: ", in("r/.git/worktrees/w"), "\n"}));
    return in("w");
  }
  std::string in(const std::string& path) const { return cat({top_, "/", path}); }

  TestDirectory directory_{"outer-repository"};
  const std::string top_;
};

TEST_F(OuterRepositoryTest, ALinkedWorktree) {
  const auto found = outer_repository(linked_worktree());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, kLinkedWorktree);
  EXPECT_EQ(found->git, in("r/.git"));
  EXPECT_EQ(found->own, in("r/.git/worktrees/w"));
  EXPECT_EQ(found->linked_by, OuterRepository::LinkedBy::kUser);
}

TEST_F(OuterRepositoryTest, ALinkThatHutchMadeForASandbox) {
  linked_worktree();
  write("w/.git", plan::marked_git_link(cat({"gitdir: ", in("r/.git/worktrees/w"), "\n"})));
  const auto found = outer_repository(in("w"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->linked_by, OuterRepository::LinkedBy::kSandbox);
}

TEST_F(OuterRepositoryTest, ALinkedWorktreeThatASymbolicLinkLedElsewhere) {
  std::filesystem::rename(linked_worktree(), in("plain"));
  std::filesystem::create_symlink("plain", in("w"));
  const auto found = outer_repository(in("plain"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->linked_by, OuterRepository::LinkedBy::kSymbolicLink);
}

TEST_F(OuterRepositoryTest, APartOfALinkedWorktree) {
  linked_worktree();
  const auto found = outer_repository(make("w/a/b"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->git, in("r/.git"));
}

TEST_F(OuterRepositoryTest, ASubmodule) {
  repository("r/.git");
  repository("r/.git/modules/s");
  write("r/.git/modules/s/config", "[core]\n\tworktree = ../../../s\n");
  write("r/s/.git", "gitdir: ../.git/modules/s\n");
  const auto found = outer_repository(in("r/s"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, kSubmodule);
  EXPECT_EQ(found->git, in("r/.git/modules/s"));
  write("r/.git/modules/s/config", "[core]\n\tworktree = ../../../other\n");
  EXPECT_FALSE(outer_repository(in("r/s")));
}

TEST_F(OuterRepositoryTest, APartOfARepository) {
  repository("r/.git");
  const auto found = outer_repository(make("r/packages/a"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, kPart);
  EXPECT_EQ(found->work_tree, in("r"));
}

TEST_F(OuterRepositoryTest, WhoseIsInItHasNone) {
  repository("r/.git");
  EXPECT_FALSE(outer_repository(in("r")));
  EXPECT_FALSE(outer_repository(make("elsewhere")));
}

TEST_F(OuterRepositoryTest, ADirectoryThatIsNoRepositoryDoesNotCount) {
  make("r/.git");
  EXPECT_FALSE(outer_repository(make("r/a")));
}

// The file comes with what a person downloads: it must not make hutch name a directory of theirs.
TEST_F(OuterRepositoryTest, TheRepositoryHasToKnowTheDirectory) {
  linked_worktree();
  write("r/.git/worktrees/w/gitdir", cat({in("other/.git"), "\n"}));
  EXPECT_FALSE(outer_repository(in("w")));
  repository("private");
  write("x/.git", cat({"gitdir: ", in("private"), "\n"}));
  EXPECT_FALSE(outer_repository(in("x")));
  repository("s/.git/modules/m");
  write("y/.git", cat({"gitdir: ", in("s/.git/modules/m"), "\n"}));
  EXPECT_FALSE(outer_repository(in("y")));
}

TEST_F(OuterRepositoryTest, FilesThatLeadNowhere) {
  const std::string texts[] = {"",
                               "gitdir: ",
                               "gitdir: .git\n",
                               "gitdir: /nowhere\n",
                               "gitdir: a\nb\n",
                               "\0\xff",
                               "gitdir: ..",
                               std::string(1 << 20, 'x'),
                               cat({"gitdir: ", std::string(5000, 'a')})};
  for (const std::string& text : texts) {
    write("d/.git", text);
    EXPECT_FALSE(outer_repository(in("d"))) << text.substr(0, 40);
  }
}

}  // namespace
}  // namespace hutch::host
