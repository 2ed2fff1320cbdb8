// Options and settings about paths, as a shell and a policy file read them.
#include "policy/path_option.h"

#include <gtest/gtest.h>

namespace hutch::policy {
namespace {

TEST(PathOption, PlainPathStays) { EXPECT_EQ(path_option("--allow-write", "/p/.npmrc"), "--allow-write /p/.npmrc"); }

TEST(PathOption, OtherPathsAreQuoted) {
  EXPECT_EQ(path_option("--allow-write", "/my proj/a"), "--allow-write '/my proj/a'");
  EXPECT_EQ(path_option("--allow-read", "/it's"), "--allow-read '/it'\\''s'");
  EXPECT_EQ(path_option("--allow-read", "/a\nb"), "--allow-read $'/a\\012b'");
}

TEST(PathOption, WildcardsAreEscaped) {
  EXPECT_EQ(path_option("--allow-write", "/a*b\\"), "--allow-write '/a\\*b\\\\'");
  EXPECT_EQ(path_option("--allow-write", "/a\\b"), "--allow-write '/a\\b'");  // no pattern: the backslash is plain
}

TEST(PathSetting, IsJson) {
  EXPECT_EQ(path_setting("filesystem.allowWrite", "/a \"b\""), "filesystem.allowWrite [\"/a \\\"b\\\"\"]");
  EXPECT_EQ(path_setting("filesystem.allowWrite", "/[x]"), "filesystem.allowWrite [\"/\\\\[x]\"]");
}

}  // namespace
}  // namespace hutch::policy
