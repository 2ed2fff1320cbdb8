// The alternate screen and the cursor, told from output in pieces of any size.
#include "sandbox/questions/screen_watch.h"

#include <gtest/gtest.h>

namespace hutch::sandbox {
namespace {

TEST(ScreenWatch, TheAlternateScreen) {
  ScreenWatch screen;
  screen.watch("plain text");
  EXPECT_FALSE(screen.is_alternate());
  screen.watch("x\x1b[?1049hy");
  EXPECT_TRUE(screen.is_alternate());
  screen.watch("\x1b[2J\x1b[1049l\x1b[?2004l");
  EXPECT_TRUE(screen.is_alternate()) << "another sequence";
  screen.watch("\x1b[?1049l");
  EXPECT_FALSE(screen.is_alternate());
  screen.watch("\x1b[?25;47h");
  EXPECT_TRUE(screen.is_alternate());
  screen.watch(
      "\x1b"
      "c");
  EXPECT_FALSE(screen.is_alternate());
}

TEST(ScreenWatch, InPieces) {
  ScreenWatch screen;
  for (const char* piece : {"\x1b", "[", "?", "10", "49", "h"}) screen.watch(piece);
  EXPECT_TRUE(screen.is_alternate());
}

TEST(ScreenWatch, TheCursor) {
  ScreenWatch screen;
  screen.watch("\x1b[?25l");
  EXPECT_TRUE(screen.is_cursor_hidden());
  EXPECT_FALSE(screen.is_alternate());
  screen.watch("\x1b[?25h");
  EXPECT_FALSE(screen.is_cursor_hidden());
}

TEST(ScreenWatch, EndlessParametersAreNoMode) {
  ScreenWatch screen;
  screen.watch("\x1b[?" + std::string(10'000, '1') + "049h");
  EXPECT_FALSE(screen.is_alternate());
}

TEST(Repeatable, APromptIsAndAQuestionToTheTerminalIsNot) {
  for (const std::string_view line :
       {"", "$ ", "\x1b[?2004h\x1b[01;32malice\x1b[00m:~$ ", "50%\r51%\x1b[K", "\xc3\xa9> "}) {
    EXPECT_TRUE(is_repeatable(line)) << line;
  }
  for (const std::string_view line : {"\x1b[6n", "a\x1b[c", "\x1b[>c", "\x1b]10;?\a", "\x1bZ", "\x1b", "\x1b[",
                                      "\x1b[1", "\x05", "\x1b[?1$p", "\x1b[\x1b[6n"}) {
    EXPECT_FALSE(is_repeatable(line)) << line;
  }
}

}  // namespace
}  // namespace hutch::sandbox
