// Widths of texts, and texts made to fit.
#include "tui/columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hutch::tui {
namespace {

using ::testing::ElementsAre;

TEST(Columns, OfEachKindOfCharacter) {
  EXPECT_EQ(columns_of(""), 0U);
  EXPECT_EQ(columns_of("/home/ada"), 9U);
  EXPECT_EQ(columns_of("Größe"), 5U);
  EXPECT_EQ(columns_of("e\u0301"), 1U) << "a mark stands on the letter before it";
  EXPECT_EQ(columns_of("日本"), 4U);
  EXPECT_EQ(columns_of("🔒"), 2U);
  EXPECT_EQ(columns_of("\u20ac"), 1U);
  EXPECT_EQ(columns_of("\xf0\x9f"), 2U) << "half a character is bytes";
}

TEST(Columns, CutAtTheEnd) {
  EXPECT_EQ(cut_end("abcdef", 6), "abcdef");
  EXPECT_EQ(cut_end("abcdefg", 6), "abc...");
  EXPECT_EQ(cut_end("日本語", 5), "日...");
  EXPECT_EQ(cut_end("日本語x", 6), "日...") << "no half of a character";
  EXPECT_EQ(cut_end("abcdef", 2), "..");
  EXPECT_EQ(cut_end("abcdef", 0), "");
}

TEST(Columns, CutAtTheStart) {
  EXPECT_EQ(cut_start("abcdef", 6), "abcdef");
  EXPECT_EQ(cut_start("abcdefg", 6), "...efg");
  EXPECT_EQ(cut_start("日本語", 5), "...語");
  EXPECT_EQ(cut_start("abcde\u0301fg", 5), "...fg") << "a mark without its letter would stand on the dots";
  EXPECT_EQ(cut_start("abcdef", 2), "..");
}

TEST(Columns, Fitted) {
  EXPECT_EQ(fitted("ab", 4), "ab  ");
  EXPECT_EQ(fitted("日本", 5), "日本 ");
  EXPECT_EQ(fitted("abcdef", 4), "a...");
  EXPECT_EQ(columns_of(fitted("日本語", 4)), 4U);
}

TEST(Columns, Wrapped) {
  EXPECT_THAT(wrapped("", 10), ElementsAre(""));
  EXPECT_THAT(wrapped("one two three", 8), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("one two three", 7), ElementsAre("one two", "three")) << "a space at the very end";
  EXPECT_THAT(wrapped("abcdefghij", 4), ElementsAre("abcd", "efgh", "ij"));
  EXPECT_THAT(wrapped("a bcdefghijkl", 8), ElementsAre("a bcdefg", "hijkl")) << "no line that is nearly empty";
  EXPECT_THAT(wrapped("日本語", 4), ElementsAre("日本", "語"));
  EXPECT_THAT(wrapped("日本", 1), ElementsAre("日", "本")) << "what fits nowhere ends all the same";
}

}  // namespace
}  // namespace hutch::tui
