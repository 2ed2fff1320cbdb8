// Where characters of UTF-8 begin and end.
#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace hutch {
namespace {

TEST(UnfinishedBytes, AreTheBeginningOfACharacter) {
  const std::string euro = "\xe2\x82\xac";
  const std::string clef = "\xf0\x9d\x84\x9e";
  EXPECT_EQ(unfinished_bytes(""), 0U);
  EXPECT_EQ(unfinished_bytes("a"), 0U);
  EXPECT_EQ(unfinished_bytes("a" + euro), 0U);
  EXPECT_EQ(unfinished_bytes("a" + euro.substr(0, 1)), 1U);
  EXPECT_EQ(unfinished_bytes("a" + euro.substr(0, 2)), 2U);
  EXPECT_EQ(unfinished_bytes(clef), 0U);
  EXPECT_EQ(unfinished_bytes(clef.substr(0, 3)), 3U);
  EXPECT_EQ(unfinished_bytes("\xc3"), 1U);
}

TEST(UnfinishedBytes, AreNoneInWhatIsNoText) {
  EXPECT_EQ(unfinished_bytes("\x80\x80\x80\x80"), 0U);
  EXPECT_EQ(unfinished_bytes("\xff"), 0U);
  EXPECT_EQ(unfinished_bytes("\xc3\x80\x80"), 0U);
  EXPECT_EQ(unfinished_bytes("\xc0"), 0U);
}

TEST(StrayBytes, AreTheEndOfACharacter) {
  EXPECT_EQ(stray_bytes(""), 0U);
  EXPECT_EQ(stray_bytes("abc"), 0U);
  EXPECT_EQ(stray_bytes("\x82\xac"
                        "a"),
            2U);
  EXPECT_EQ(stray_bytes("\xe2\x82\xac"), 0U);
  EXPECT_EQ(stray_bytes("\x80\x80\x80\x80\x80"), 3U);
}

}  // namespace
}  // namespace hutch
