// Which files a user of the library may have written, and where they go.
#include "api/write_files.h"

#include <gtest/gtest.h>

namespace hutch::api {
namespace {

Result<std::vector<wire::WriteFile>> one(const std::string& path) { return write_requests({{.path = path}}, "/w/d"); }

TEST(WriteFiles, PathsAreBelowTheWorkingDirectoryUnlessTheyAreAbsolute) {
  for (const std::string path : {"a/b", "./a//b", "/w/d/a/b", "/w/d/./a/b"}) {
    const auto requests = one(path);
    ASSERT_TRUE(requests) << path;
    EXPECT_EQ(requests->front().place, (wire::FilePlace{"", "a/b"})) << path;
  }
  const auto other = one("/w/dir/a");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->front().place, (wire::FilePlace{"/", "w/dir/a"}));
}

TEST(WriteFiles, DotsAndPathsWithoutANameAreRefused) {
  for (const std::string path : {"..", "a/..", "a/../b", "/w/d/../x", "/..", "", ".", "/", "/w/d/"}) {
    EXPECT_FALSE(one(path)) << path;
  }
  EXPECT_FALSE(one(std::string("a\0b", 3)));
  EXPECT_TRUE(one("a..b/...")) << "two dots within a name mean nothing";
}

TEST(WriteFiles, ModesAndSizesHaveBounds) {
  for (const unsigned mode : {0U, 01000U, 04755U}) {
    EXPECT_FALSE(write_requests({{.path = "a", .mode = mode}}, "/w")) << mode;
  }
  const auto executable = write_requests({{.path = "a", .content = "x", .mode = 0755}}, "/w");
  ASSERT_TRUE(executable);
  EXPECT_EQ(executable->front().mode, 0755U);
  EXPECT_FALSE(write_requests({{.path = "a", .content = std::string(wire::kFileChunkBytes + 1, 'x')}}, "/w"));
}

}  // namespace
}  // namespace hutch::api
