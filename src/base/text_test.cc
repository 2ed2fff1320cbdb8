// Text helpers: printing what a sandbox chose, guessing what was meant, paths within paths.
#include "base/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace hutch {
namespace {

TEST(Printable, PlainTextStays) { EXPECT_EQ(printable("src/é文件 name.txt"), "src/é文件 name.txt"); }

TEST(Printable, ControlBytesAreShown) { EXPECT_EQ(printable("a\x1b[2Jb\n\t\x7f"), "a\\x1b[2Jb\\x0a\\x09\\x7f"); }

TEST(Printable, BytesThatAreNoCharacterAreShown) {
  EXPECT_EQ(printable("\xff\xc0\x80 \xe2\x82"), "\\xff\\xc0\\x80 \\xe2\\x82");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b2J");  // CSI in one character
}

TEST(Printable, DirectionControlsAreShown) {
  EXPECT_EQ(printable("a\u202eb"), "a\\xe2\\x80\\xaeb");
  EXPECT_EQ(printable("\u2066x"), "\\xe2\\x81\\xa6x");
}

TEST(Printable, WhatTakesNoRoomIsShown) {
  EXPECT_EQ(printable("a\u200b.example\ufeff"), "a\\xe2\\x80\\x8b.example\\xef\\xbb\\xbf");
  EXPECT_EQ(printable("\u2060"), "\\xe2\\x81\\xa0");
}

// One row for each way to write a name that looks like another.
TEST(Printable, NothingIsShownAsSomethingElse) {
  static constexpr std::array<std::string_view, 34> kUnseen = {
      "\u00a0", "\u00ad", "\u034f", "\u061c", "\u115f", "\u1160",     "\u1680",    "\u17b4", "\u180b",
      "\u180e", "\u2002", "\u2009", "\u200a", "\u200b", "\u200c",     "\u200d",    "\u200e", "\u2028",
      "\u2029", "\u202e", "\u202f", "\u205f", "\u2061", "\u2064",     "\u206a",    "\u2800", "\u3164",
      "\ue000", "\ufe0f", "\uffa0", "\ufff9", "\uffff", "\U000e0041", "\U000e0100"};
  for (const std::string_view unseen : kUnseen) {
    const std::string shown = printable(cat({"a", unseen, "b"}));
    EXPECT_TRUE(shown.starts_with("a\\x") && shown.ends_with("b")) << shown;
    EXPECT_TRUE(std::ranges::all_of(shown, [](char c) { return c >= ' ' && c <= '~'; })) << shown;
  }
  EXPECT_EQ(printable("\u0645\u06cc\u200c\u062e\u0648"), "\u0645\u06cc\u200c\u062e\u0648");  // Persian needs it
}

TEST(Printable, IsCut) { EXPECT_EQ(printable(std::string(100, 'x'), 10), std::string(10, 'x') + "..."); }

TEST(ShellWord, QuotesWhatAShellWouldRead) {
  EXPECT_EQ(shell_word("/p/a-b_c.é"), "/p/a-b_c.é");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("my proj"), "'my proj'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("$(id) `x`"), "'$(id) `x`'");
}

TEST(ShellWord, IsAlwaysPrintable) {
  EXPECT_EQ(shell_word("a\nb"), "$'a\\012b'");
  EXPECT_EQ(shell_word("\xff'\\"), "$'\\377\\'\\\\'");
  EXPECT_EQ(shell_word("a\u202eb"), "$'a\\342\\200\\256b'");
}

TEST(Nearest, FindsWhatWasMeant) {
  static constexpr std::array<std::string_view, 3> kKnown = {"denyRead", "allowRead", "denyWrite"};
  EXPECT_EQ(nearest("denyRaed", kKnown), "denyRead");
  EXPECT_EQ(nearest("allowred", kKnown), "allowRead");
  EXPECT_EQ(nearest("completely-else", kKnown), std::nullopt);
}

TEST(IsWithin, ComparesWholeNames) {
  EXPECT_TRUE(is_within("/a/b", "/a"));
  EXPECT_TRUE(is_within("/a", "/a"));
  EXPECT_TRUE(is_within("/a", "/"));
  EXPECT_FALSE(is_within("/ab", "/a"));
  EXPECT_FALSE(is_within("/", "/a"));
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a::b", ':'), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_TRUE(split("", ':').empty());
  EXPECT_EQ(split("a:", ':'), (std::vector<std::string_view>{"a", ""}));
}

}  // namespace
}  // namespace hutch
