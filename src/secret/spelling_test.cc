// Escapes of all kinds read back, and where each character stood.
#include "secret/spelling.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/base64.h"

namespace hutch::secret {
namespace {

std::string plain(std::string_view text) { return plainly(as_it_is(text), Rest::kNone).text; }

TEST(SpellingTest, Urls) {
  EXPECT_EQ(plain("a%62c%2d%2D%7e%e4%zz%4"), "abc--~\x80%zz%4");
  EXPECT_EQ(plain("%2525%32%35x"), "%x") << "as often as it was escaped";
  EXPECT_EQ(plain("%%36%31"), "a") << "an escape's own characters";
}

TEST(SpellingTest, Entities) {
  EXPECT_EQ(plain("&#97;&#0098;&#x63;&#X064;&#101f&#x66;"), "abcdeff");
  EXPECT_EQ(plain("&amp;&ampx&lt&gt;&sol;&Tab;&nosuch;&lowbar;"), "&&x<>/\t&nosuch;_");
  EXPECT_EQ(plain("&amp;lt;&amp;amp;"), "<&") << "twice";
  EXPECT_EQ(plain("&#97"), "a") << "at the end";
  EXPECT_EQ(plain("&#00000000000000000000097;"), "a");
}

TEST(SpellingTest, Backslashes) {
  EXPECT_EQ(plain(R"(\u0061\u0062\/\x63\144\u{65}\U00000066\")"), "ab/cdef");
  EXPECT_EQ(plain(R"(a\tb\\\\tc\nd)"), "a\tb\tcd") << "a run of them is as good as one";
  EXPECT_EQ(plain(R"(a\ b\$c\gd)"), "a b$cgd");
  EXPECT_EQ(plain(R"(\1z\12\x4\xg)"), "\1z\4xg") << "of the second a line end was left";
}

TEST(SpellingTest, Shells) {
  EXPECT_EQ(plain(R"('it'\''s' "a"'b'$'c\x64' $"e")"), "its abcd e");
  EXPECT_EQ(plain("a'b\"c"), "abc");
}

TEST(SpellingTest, LineEndsAndWhatIndentsTheNextLine) { EXPECT_EQ(plain("ab\r\n   cd\\n  ef gh"), "abcdef gh"); }

TEST(SpellingTest, OneWithinAnother) {
  EXPECT_EQ(plain("%5Cu0061%26%2398%3B"), "ab");
  EXPECT_EQ(plain("%26%23%39%37%3B"), "a") << "each character of an entity";
  EXPECT_EQ(plain("\\\\u0061 \\u005cu0062"), "a b");
}

TEST(SpellingTest, WhereEachStood) {
  const Unspelled made = plainly(as_it_is("x%61&#98;'c'"), Rest::kNone);
  EXPECT_EQ(made.text, "xabc");
  EXPECT_EQ(made.begin, (std::vector<std::uint32_t>{0, 1, 4, 10}));
  EXPECT_EQ(made.end, (std::vector<std::uint32_t>{1, 4, 9, 11}));
}

TEST(SpellingTest, WhatMayGoOnIsLeftOut) {
  for (const char* end : {"%", "%4", "&", "&am", "&#", "&#1", "&#x", "\\", "\\x", "\\x4", "\\u00", "\\12", "\\u{4"}) {
    const Unspelled made = plainly(as_it_is(std::string("ab") + end), Rest::kMayCome);
    EXPECT_EQ(made.text, "ab") << end;
    EXPECT_EQ(made.pending, 2U) << end;
  }
  EXPECT_FALSE(plainly(as_it_is("ab%zz \\q &no;"), Rest::kMayCome).pending);
}

TEST(SpellingTest, Base64AndHex) {
  EXPECT_EQ(from_base64_runs(as_it_is(to_base64("secret!")), 0, 6, Rest::kNone).text, "secret!");
  EXPECT_EQ(from_base64_runs(as_it_is("x" + to_base64("secret!")), 3, 6, Rest::kNone).text, "secret!");
  EXPECT_EQ(from_base64_runs(as_it_is("short word"), 0, 6, Rest::kNone).text, "");
  EXPECT_EQ(from_hex_runs(as_it_is("73 65:63,0x72 0x65-74"), 0, 6, Rest::kNone).text, "secret");
  EXPECT_EQ(from_hex_runs(as_it_is("f736563726574"), 1, 6, Rest::kNone).text, "secret");
  const Unspelled begun = from_base64_runs(as_it_is("c2VjcmV"), 0, 6, Rest::kMayCome);
  EXPECT_EQ(begun.text, "secre");
  EXPECT_EQ(begun.bits, 2U);
  EXPECT_EQ(begun.value, 1U);
}

// However it is nested, each character is looked at a bounded number of times.
TEST(SpellingTest, TakesAsLongAsTheTextIs) {
  const auto begun = std::chrono::steady_clock::now();
  for (const std::string part : {"%3", "%25", "\\", "&#0", "&#x3", "\\u00", "%5c", "&amp;", "%%%"}) {
    std::string text;
    while (text.size() < (1U << 16)) text += part;
    EXPECT_LE(plain(text + "35").size(), text.size() + 2) << part;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(30));
}

}  // namespace
}  // namespace hutch::secret
