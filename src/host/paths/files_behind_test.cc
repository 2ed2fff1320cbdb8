// Which other names the files of a protected directory have.
#include "host/paths/files_behind.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/directory_testing.h"
#include "base/text.h"

namespace hutch::host {
namespace {

class Behind : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return cat({top_.path(), "/", name}); }
  std::string file(const std::string& name) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name)) << "text";
    return path(name);
  }
  FilesBehind found() const {
    auto found = files_behind(path("hooks"));
    EXPECT_TRUE(found);
    return found ? std::move(*found) : FilesBehind();
  }

  const TestDirectory top_{"files-behind"};
};

TEST_F(Behind, LinksAtAFewLevels) {
  file("hooks/a/b/plain");
  std::filesystem::create_symlink("../scripts/x", path("hooks/pre-commit"));
  std::filesystem::create_symlink("nowhere", path("hooks/a/b/link"));
  std::filesystem::create_directories(path("hooks/a/b/c/d"));
  std::filesystem::create_symlink("x", path("hooks/a/b/c/d/too-deep"));
  std::vector<std::string> links = found().links;
  std::ranges::sort(links);
  EXPECT_EQ(links, (std::vector<std::string>{path("hooks/a/b/link"), path("hooks/pre-commit")}));
}

TEST_F(Behind, FilesWithTwoNames) {
  file("hooks/one");
  std::filesystem::create_hard_link(file("script"), path("hooks/pre-commit"));
  std::filesystem::create_hard_link(path("script"), path("hooks/pre-commit.sample"));
  const std::vector<plan::LinkedFile> linked = found().linked;
  ASSERT_EQ(linked.size(), 1U);
  EXPECT_EQ(linked.front().path, path("hooks/pre-commit"));
  EXPECT_EQ(linked.front(), linked_file(path("hooks/pre-commit")));
  EXPECT_EQ(linked.front().inode, linked_file(path("script"))->inode);
  EXPECT_FALSE(linked_file(path("hooks/one")));
  EXPECT_FALSE(linked_file(path("absent")));
}

TEST_F(Behind, NothingWhereNothingIs) {
  EXPECT_TRUE(found().links.empty());
  file("hooks");
  EXPECT_TRUE(found().linked.empty());
}

}  // namespace
}  // namespace hutch::host
