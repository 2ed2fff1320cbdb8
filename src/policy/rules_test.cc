// Tests of how entries become rules.
#include "policy/rules.h"

#include <gtest/gtest.h>

#include "policy/defaults.h"

namespace hutch::policy {
namespace {

const Bases kBases{.home = "/home/u", .project = "/home/u/p", .cwd = "/home/u/p/sub"};

Rule only(const Filesystem& files) {
  Policy policy;
  policy.filesystem = files;
  std::vector<Rule> rules = rules_of(policy, kBases).value();
  EXPECT_EQ(rules.size(), 1U);
  return rules.empty() ? Rule() : rules.front();
}

Rule deny_read(PathEntry entry) {
  Filesystem files;
  files.deny_read = {std::move(entry)};
  return only(files);
}

TEST(RulesTest, Bases) {
  EXPECT_EQ(deny_read({"~"}).path, "/home/u");
  EXPECT_EQ(deny_read({"~/x"}).path, "/home/u/x");
  EXPECT_EQ(deny_read({"."}).path, "/home/u/p");
  EXPECT_EQ(deny_read({"x/./y//z/"}).path, "/home/u/p/x/y/z");
  EXPECT_EQ(deny_read({"../x"}).path, "/home/u/p/../x") << "only who sees the links can take .. out";
  EXPECT_EQ(deny_read({"/"}).path, "/");
  EXPECT_EQ(deny_read({"/a//b/"}).path, "/a/b");
}

TEST(RulesTest, OptionsStartFromTheCurrentDirectory) {
  const std::vector<Rule> rules =
      rules_of(PathOptions{.allow_read = {"x"}, .deny_read = {}, .allow_write = {"y"}, .deny_write = {}}, kBases)
          .value();
  ASSERT_EQ(rules.size(), 3U);
  EXPECT_EQ(rules[0].path, "/home/u/p/sub/x");
  EXPECT_EQ(rules[1].verb, Verb::kAllowWrite);
  EXPECT_EQ(rules[1].path, "/home/u/p/sub/y");
  EXPECT_EQ(rules[2].verb, Verb::kAllowRead) << "--allow-write allows reading too";
  EXPECT_EQ(rules[2].path, "/home/u/p/sub/y");
  EXPECT_EQ(describe(rules[2]), "--allow-write \"y\"");
}

TEST(RulesTest, SettingsOfAnAgentAreCalledByTheirName) {
  const PathOptions options{
      .allow_read = {"/t"}, .deny_read = {}, .allow_write = {"~/w"}, .deny_write = {}, .agent = "a"};
  const std::vector<Rule> rules = rules_of(options, kBases).value();
  ASSERT_EQ(rules.size(), 3U);
  EXPECT_EQ(rules[0].where, "allowRead of agent a");
  EXPECT_EQ(rules[1].where, "allowWrite of agent a");
  EXPECT_EQ(rules[1].path, "/home/u/w");
}

TEST(RulesTest, Patterns) {
  const Rule glob = deny_read({"src/**/*.pem"});
  EXPECT_EQ(glob.match, Match::kGlob);
  EXPECT_EQ(glob.path, "/home/u/p/src/**/*.pem");
  const Rule tree = deny_read({"secrets/**"});
  EXPECT_EQ(tree.match, Match::kLiteral) << "the tree, and what comes into it later";
  EXPECT_EQ(tree.path, "/home/u/p/secrets");
  const Rule literal = deny_read({"a*b", EntryForm::kLiteral});
  EXPECT_EQ(literal.match, Match::kLiteral);
  EXPECT_EQ(literal.path, "/home/u/p/a*b");
  EXPECT_EQ(deny_read({"a\\*b*"}).path, "/home/u/p/a\\*b*");
}

TEST(RulesTest, WildcardsInTheProjectsOwnNameAreNoPattern) {
  Policy policy;
  policy.filesystem.deny_read = {{"*.pem"}};
  const Bases odd{.home = "/home/u", .project = "/home/u/[odd]", .cwd = "/"};
  EXPECT_EQ(rules_of(policy, odd).value().front().path, "/home/u/\\[odd]/*.pem");
}

TEST(RulesTest, Wrong) {
  for (const char* text : {"", "~other/x", "[ab", "*/../x", "a*/"}) {
    Policy policy;
    policy.filesystem.allow_write = {{text}};
    const auto rules = rules_of(policy, kBases);
    ASSERT_FALSE(rules.has_value()) << text;
    EXPECT_TRUE(rules.error().message.starts_with("filesystem.allowWrite[0]: ")) << rules.error().message;
  }
  Policy policy;
  policy.filesystem.deny_read = {{std::string("a\0b", 3)}};
  EXPECT_FALSE(rules_of(policy, kBases).has_value());
  policy.filesystem.deny_read = {{std::string(5000, 'a')}};
  EXPECT_FALSE(rules_of(policy, kBases).has_value());
}

TEST(RulesTest, DefaultPolicyIsTheWorkspace) {
  const std::vector<Rule> rules = rules_of(default_policy(), kBases).value();
  ASSERT_EQ(rules.size(), 6U);
  EXPECT_EQ(rules[0].path, "/home");
  EXPECT_EQ(rules[3].path, "/home/u");
  EXPECT_EQ(rules[4].verb, Verb::kAllowRead);
  EXPECT_EQ(rules[4].path, "/home/u/p");
  EXPECT_EQ(rules[5].verb, Verb::kAllowWrite);
}

}  // namespace
}  // namespace hutch::policy
