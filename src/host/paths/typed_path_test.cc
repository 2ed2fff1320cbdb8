// Tests of typed paths, on a real tree.
#include "host/paths/typed_path.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/directory_testing.h"

namespace hutch::host {
namespace {

namespace fs = std::filesystem;

class TypedPathTest : public testing::Test {
 protected:
  void SetUp() override {
    base_ = fs::canonical(directory_.path());
    fs::create_directories(base_ + "/real/sub");
    fs::create_directories(base_ + "/up");
    fs::create_symlink("real", base_ + "/relative");
    fs::create_symlink(base_ + "/real", base_ + "/absolute");
    fs::create_symlink("../relative", base_ + "/up/second");
    fs::create_symlink("loop", base_ + "/loop");
  }

  // The links that were followed.
  std::string followed(const std::string& typed, const std::string& directory) {
    const plan::TypedPath found = typed_path(base_ + typed, base_ + directory);
    std::string links;
    for (const plan::PathLink& link : found.links) {
      const std::size_t above = link.text.starts_with('/') ? base_.size() : 0;
      links += link.path.substr(base_.size()) + "=" + link.text.substr(above) + " ";
    }
    EXPECT_EQ(found.path.empty(), links.empty());
    return links;
  }

  TestDirectory directory_{"typed-path"};
  std::string base_;
};

TEST_F(TypedPathTest, FollowsLinks) {
  EXPECT_EQ(followed("/relative", "/real"), "/relative=real ");
  EXPECT_EQ(followed("/absolute/sub", "/real/sub"), "/absolute=/real ");
  EXPECT_EQ(followed("/up/second/sub", "/real/sub"), "/up/second=../relative /relative=real ");
}

TEST_F(TypedPathTest, BelievesNothingElse) {
  for (const char* typed : {"/real", "/up", "/loop", "/absent", "/real/../relative", "/./relative", "//relative",
                            "/relative/", "/absolute/sub"}) {
    EXPECT_EQ(followed(typed, "/real"), "") << typed;
  }
  for (const std::string& typed : {std::string(), std::string("relative"), std::string("/"), std::string(5000, 'a')}) {
    EXPECT_TRUE(typed_path(typed, base_ + "/real").path.empty());
  }
}

}  // namespace
}  // namespace hutch::host
