// Which values a text has, begins with and ends with.
#include "secret/patterns.h"

#include <gtest/gtest.h>

#include <chrono>

namespace hutch::secret {
namespace {

Patterns patterns(const std::vector<std::string>& values) {
  Patterns made;
  for (std::size_t i = 0; i < values.size(); ++i) made.add(values[i], i);
  made.finish();
  return made;
}

TEST(PatternsTest, TheLongestAtEachPlace) {
  const Patterns some = patterns({"abcdef", "abcdefgh", "bcdefg", "tiny"});
  const auto found = some.matches("xabcdefghabcdefzbcdefg tiny");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].at, 1U);
  EXPECT_EQ(found[0].size, 8U);
  EXPECT_EQ(found[1].at, 9U);
  EXPECT_EQ(found[1].size, 6U);
  EXPECT_EQ(found[2].of, 2U);
  EXPECT_TRUE(some.matches("abcde").empty());
  EXPECT_TRUE(patterns({"tiny"}).empty());
}

TEST(PatternsTest, OfALongOneItsHeadIsEnough) {
  const std::string head(Patterns::kHeadBytes, 'h');
  const Patterns some = patterns({head + "first", head + "second", head + "second and more"});
  const auto found = some.matches("." + head + "second an.");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].size, head.size() + 9);
  EXPECT_EQ(found[0].of, 2U);
}

TEST(PatternsTest, WhatMayGoOn) {
  const Patterns some = patterns({"abcdef", "abcdefgh", "efghij"});
  const auto begun = some.begun("xxabcdef");
  ASSERT_EQ(begun.size(), 2U);
  EXPECT_EQ(begun[0].at, 2U);
  EXPECT_EQ(begun[1].at, 6U);
  EXPECT_EQ(some.begun("xxabcdefgh").size(), 1U) << "the last four bytes, of another";
  EXPECT_TRUE(some.begun("xxabcdefghij").empty());
  EXPECT_TRUE(some.may_begin(4, 'a' >> 4U));
  EXPECT_TRUE(some.may_begin(8, 'e'));
  EXPECT_FALSE(some.may_begin(8, 'b'));
}

TEST(PatternsTest, WhatIsTheEndOfOne) {
  const Patterns some = patterns({"0123456789", "xx456789"});
  EXPECT_EQ(some.ended("456789 and", 6).size, 6U);
  EXPECT_EQ(some.ended("3456789 and", 6).size, 7U);
  EXPECT_EQ(some.ended("56789 and", 6).size, 0U);
  EXPECT_EQ(some.ended("0123456789", 6).size, 0U) << "all of one is no end";
  EXPECT_EQ(patterns({"ababababab"}).ended("abababab-", 6).size, 8U);
}

// An agent chooses values as well as texts.
TEST(PatternsTest, TakesAsLongAsTheTextIs) {
  std::vector<std::string> values;
  for (int i = 0; i < 256; ++i) values.push_back(std::string(63, 'a') + static_cast<char>(i));
  values.push_back(std::string(65000, 'a') + "b");
  const Patterns some = patterns(values);
  const auto begun = std::chrono::steady_clock::now();
  (void)some.matches(std::string(1U << 17, 'a'));
  std::string broken;
  for (int i = 0; i < 2'000; ++i) broken += std::string(62, 'a') + "zz";
  EXPECT_TRUE(some.matches(broken).empty());
  (void)some.begun(std::string(1U << 17, 'a'));
  (void)some.ended(std::string(1U << 17, 'a'), 6);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
}

}  // namespace
}  // namespace hutch::secret
