// Excerpts: whole characters, honest numbers.
#include "tool/excerpt.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace hutch::tool {
namespace {

const std::string kEuro = "\u20ac";

std::string repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST(Excerpt, CharactersAreCodePoints) {
  EXPECT_EQ(count_characters(""), 0U);
  EXPECT_EQ(count_characters("a" + kEuro + "\U0001F600"), 3U);
  EXPECT_EQ(count_characters("\xff\x80"), 2U);
  EXPECT_EQ(first_characters(kEuro + "abc", 2), kEuro + "a");
  EXPECT_EQ(last_characters("abc" + kEuro, 2), "c" + kEuro);
  EXPECT_EQ(last_characters("ab\x80\x80\x80\x80", 5), "b\x80\x80\x80\x80");
  EXPECT_EQ(first_characters("ab", 9), "ab");
  EXPECT_EQ(last_characters("ab", 9), "ab");
}

TEST(Excerpt, WellFormedness) {
  EXPECT_TRUE(is_utf8("a" + kEuro));
  for (const char* wrong : {"\xff", "\x80", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                            "\xf4\x90\x80\x80", "\xe2\x82", "\xf5\x80\x80\x80"}) {
    EXPECT_FALSE(is_utf8(wrong)) << wrong;
  }
}

TEST(Excerpt, CutCharactersAtBothEnds) {
  EXPECT_EQ(without_cut_character("\x82\xac"
                                  "abc\xe2\x82"),
            "abc");
  EXPECT_EQ(without_cut_character("abc" + kEuro), "abc" + kEuro);
  EXPECT_EQ(without_cut_character("\xf0\x9f\x98"), "");
  EXPECT_EQ(without_cut_character(""), "");
}

TEST(Excerpt, WithinTheBudgetNothingIsLost) {
  const std::string text = repeated(kEuro, 100);
  EXPECT_EQ(excerpt(text, 100), text);
  EXPECT_EQ(excerpt(Kept{.head = "ab", .tail = "cd"}, 4), "abcd");
}

TEST(Excerpt, FortyAndSixty) {
  const std::string text = repeated("a", 50) + repeated(kEuro, 50) + repeated("z", 100);
  EXPECT_EQ(excerpt(text, 10), "aaaa\n\n... [output truncated — 190 chars omitted out of 200 total] ...\n\nzzzzzz");
}

TEST(Excerpt, BytesThatWereNotKeptCount) {
  const Kept kept{.head = repeated("a", 100) + "\xe2", .tail = "\x82\xac" + repeated("z", 100), .omitted_bytes = 1000};
  const std::string text = excerpt(kept, 10);
  EXPECT_TRUE(text.starts_with("aaaa\n\n... [output truncated — ")) << text;
  EXPECT_TRUE(text.ends_with("chars omitted out of 1203 total] ...\n\nzzzzzz")) << text;
  // Even where the budget would hold what was kept.
  EXPECT_NE(excerpt(Kept{.head = "a", .tail = "z", .omitted_bytes = 5}, 100).find("5 chars omitted out of 7"),
            std::string::npos);
}

}  // namespace
}  // namespace hutch::tool
