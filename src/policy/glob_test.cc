// Tests of wildcards.
#include "policy/glob.h"

#include <gtest/gtest.h>

#include <string>

namespace hutch::policy {
namespace {

TEST(GlobTest, HasWildcard) {
  EXPECT_TRUE(has_wildcard("a*"));
  EXPECT_TRUE(has_wildcard("a?b"));
  EXPECT_TRUE(has_wildcard("[ab]"));
  EXPECT_FALSE(has_wildcard("a/b.c"));
  EXPECT_FALSE(has_wildcard("a\\*b"));
  EXPECT_FALSE(has_wildcard("a\\[b]"));
}

TEST(GlobTest, Component) {
  EXPECT_TRUE(matches_component("*.pem", "a.pem"));
  EXPECT_TRUE(matches_component("*.pem", ".pem"));
  EXPECT_FALSE(matches_component("*.pem", "a.pem.bak"));
  EXPECT_TRUE(matches_component(".env*", ".env.local"));
  EXPECT_TRUE(matches_component("*", ".hidden")) << "a deny that passes over dot files would be a trap";
  EXPECT_TRUE(matches_component("a?c", "abc"));
  EXPECT_FALSE(matches_component("a?c", "ac"));
  EXPECT_TRUE(matches_component("[a-c]x", "bx"));
  EXPECT_FALSE(matches_component("[!a-c]x", "bx"));
  EXPECT_TRUE(matches_component("[^a-c]x", "dx"));
  EXPECT_TRUE(matches_component("[]x]", "]"));
  EXPECT_TRUE(matches_component("[a-]", "-"));
  EXPECT_TRUE(matches_component("\\*", "*"));
  EXPECT_FALSE(matches_component("\\*", "a"));
  EXPECT_TRUE(matches_component("a*b*c", "a-b-b-c"));
  EXPECT_FALSE(matches_component("a*b*c", "a-b-b-"));
  EXPECT_TRUE(matches_component("", ""));
  EXPECT_FALSE(matches_component("", "a"));
}

// The classic case on which a matcher that backtracks everywhere takes for ever.
TEST(GlobTest, ManyStarsEnd) {
  const std::string name(2000, 'a');
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_TRUE(matches_component(pattern, name));
  EXPECT_FALSE(matches_component(pattern + "b", name));
}

TEST(GlobTest, Path) {
  EXPECT_TRUE(matches_path("/p/*.pem", "/p/a.pem"));
  EXPECT_FALSE(matches_path("/p/*.pem", "/p/q/a.pem"));
  EXPECT_TRUE(matches_path("/p/**/*.pem", "/p/a.pem"));
  EXPECT_TRUE(matches_path("/p/**/*.pem", "/p/q/r/a.pem"));
  EXPECT_FALSE(matches_path("/p/**/*.pem", "/q/a.pem"));
  EXPECT_TRUE(matches_path("/**/x", "/a/b/x"));
  EXPECT_TRUE(matches_path("/a/**/b/**/c", "/a/1/b/2/3/c"));
  EXPECT_FALSE(matches_path("/a/**/b/**/c", "/a/1/2/3/c"));
}

TEST(GlobTest, CheckPattern) {
  EXPECT_TRUE(check_pattern("src/**/*.pem").has_value());
  EXPECT_TRUE(check_pattern("../x/*").has_value());
  EXPECT_FALSE(check_pattern("*/../x").has_value());
  EXPECT_FALSE(check_pattern("x*/").has_value());
  EXPECT_FALSE(check_pattern("[ab").has_value());
  EXPECT_FALSE(check_pattern("*\\").has_value());
}

TEST(GlobTest, WhatIsInFrontOfTheFirstWildcard) {
  EXPECT_EQ(literal_part("/a/b/*/c"), "/a/b");
  EXPECT_EQ(literal_part("/a/b\\*"), "/a/b*");
  EXPECT_EQ(literal_part("/**/x"), "");
}

TEST(GlobTest, EscapeRoundTrip) {
  for (const std::string name : {"plain", "a*b", "[x]", "a\\b", "what?", "**"}) {
    const std::string escaped = escape_wildcards(name);
    EXPECT_FALSE(has_wildcard(escaped)) << name;
    EXPECT_EQ(unescape(escaped), name);
    EXPECT_TRUE(matches_component(escaped, name)) << name;
  }
}

}  // namespace
}  // namespace hutch::policy
