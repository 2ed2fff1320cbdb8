// What is typed and pasted into a line.
#include "tui/input_line.h"

#include <gtest/gtest.h>

namespace hutch::tui {
namespace {

void type(InputLine& line, std::initializer_list<EventKind> kinds) {
  for (const EventKind kind : kinds) line.press({kind});
}

TEST(InputLine, TypingAndMoving) {
  InputLine line("ac");
  type(line, {EventKind::kLeft});
  line.press({EventKind::kText, "b"});
  EXPECT_EQ(line.text(), "abc");
  EXPECT_EQ(line.cursor(), 2U);
  type(line, {EventKind::kHome, EventKind::kLeft});
  line.press({EventKind::kText, "ß"});
  EXPECT_EQ(line.text(), "ßabc");
  type(line, {EventKind::kEnd, EventKind::kRight});
  EXPECT_EQ(line.cursor(), 5U);
  type(line, {EventKind::kHome, EventKind::kRight});
  EXPECT_EQ(line.cursor(), 2U) << "a character is one step";
}

TEST(InputLine, Deleting) {
  InputLine line("aßc");
  type(line, {EventKind::kLeft, EventKind::kBackspace});
  EXPECT_EQ(line.text(), "ac");
  type(line, {EventKind::kDelete, EventKind::kDelete});
  EXPECT_EQ(line.text(), "a");
  type(line, {EventKind::kBackspace, EventKind::kBackspace});
  EXPECT_EQ(line.text(), "");
  InputLine other("one two");
  type(other, {EventKind::kLeft, EventKind::kClear});
  EXPECT_EQ(other.text(), "o");
  EXPECT_EQ(other.cursor(), 0U);
}

TEST(InputLine, KeysOfOtherScreensDoNothing) {
  InputLine line("a");
  type(line, {EventKind::kEnter, EventKind::kEscape, EventKind::kUp, EventKind::kDown, EventKind::kPageUp,
              EventKind::kPageDown, EventKind::kInterrupt});
  EXPECT_EQ(line.text(), "a");
  EXPECT_EQ(line.cursor(), 1U);
}

TEST(InputLine, APasteHasNoControls) {
  InputLine line("");
  for (const char* const character : {"a", "\n", "\x1b", "\x7f", "\xc2\x9b", "", "b", "\xc2\xa0"}) {
    line.press({EventKind::kPaste, character});
  }
  EXPECT_EQ(line.text(), "ab\xc2\xa0");
}

TEST(InputLine, IsBounded) {
  InputLine line("");
  for (int at = 0; at < 20'000; ++at) line.press({EventKind::kPaste, "x"});
  EXPECT_EQ(line.text().size(), 16384U);
}

}  // namespace
}  // namespace hutch::tui
