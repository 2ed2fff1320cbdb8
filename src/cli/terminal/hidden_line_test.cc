// The keys of a line that is not shown.
#include "cli/terminal/hidden_line.h"

#include <gtest/gtest.h>

namespace hutch::cli {
namespace {

using State = HiddenLine::State;

TEST(HiddenLineTest, EndsAtEnterAndDropsWhatFollows) {
  HiddenLine line(10);
  EXPECT_EQ(line.take("ab"), State::kOpen);
  EXPECT_EQ(line.take("c\rd"), State::kDone);
  EXPECT_EQ(line.take("e"), State::kDone);
  EXPECT_EQ(line.take_text(), "abc");
}

TEST(HiddenLineTest, BackspaceTakesAWholeCharacterBack) {
  HiddenLine line(10);
  line.take("a\xc3\xbc\x7f");
  line.take("b\x08\n");
  EXPECT_EQ(line.take_text(), "a");
  HiddenLine empty(10);
  EXPECT_EQ(empty.take("\x7f\x7f\n"), State::kDone);
  EXPECT_EQ(empty.take_text(), "");
}

TEST(HiddenLineTest, KeysThatCancelOrClear) {
  EXPECT_EQ(HiddenLine(10).take("a\x03"), State::kCancelled);
  EXPECT_EQ(HiddenLine(10).take("\x04"), State::kCancelled);
  EXPECT_EQ(HiddenLine(10).take("a\x04"), State::kOpen);
  HiddenLine line(10);
  line.take("abc\x15z\r");
  EXPECT_EQ(line.take_text(), "z");
}

TEST(HiddenLineTest, IsBounded) {
  EXPECT_EQ(HiddenLine(2).take("ab\r"), State::kDone);
  EXPECT_EQ(HiddenLine(2).take("abc\r"), State::kTooLong);
}

}  // namespace
}  // namespace hutch::cli
