// Which files are somebody's to open, and which never.
#include "service/questions/file_question.h"

#include <gtest/gtest.h>

namespace hutch::service {
namespace {

using approval::Kind;
using policy::Origin;
using policy::Rule;
using policy::Verb;

Rule rule(Verb verb, const std::string& path, Origin origin = Origin::kPolicy) {
  return {.verb = verb, .origin = origin, .path = path, .text = path};
}

const std::vector<Rule> kRules = {
    rule(Verb::kDenyRead, "/home/u", Origin::kBuiltIn),
    rule(Verb::kAllowRead, "/home/u/shown"),
    rule(Verb::kAllowRead, "/home/u/project"),
    rule(Verb::kAllowWrite, "/home/u/project"),
    rule(Verb::kDenyWrite, "/home/u/project/kept"),
    rule(Verb::kDenyWrite, "/home/u/log"),
    rule(Verb::kDenyRead, "/home/u/.ssh", Origin::kCredential),
};
const plan::GuardedNames kNames{.rules = {{.pattern = "/**/.mcp.json", .rule = "built in", .except = {}, .lifted = {}},
                                          {.pattern = "/home/u/project/.ssh",
                                           .rule = "home",
                                           .except = {},
                                           .lifted = {},
                                           .asking = plan::NameRule::Asking::kMayBe}}};

FileOutcome judged(Kind kind, const std::string& path, const policy::Asks& asks = {}) {
  return judge_file({kRules, asks, &kNames}, kind, path);
}

TEST(FileQuestion, WhatIsHiddenIsAskedAboutByItsRule) {
  const FileOutcome outcome = judged(Kind::kRead, "/home/u/other/f");
  EXPECT_FALSE(outcome.allowed);
  EXPECT_FALSE(outcome.never);
  EXPECT_TRUE(outcome.hidden);
  EXPECT_EQ(outcome.closed_at, "/home/u");
  EXPECT_EQ(outcome.question.visibility, approval::Visibility::kHidden);
  EXPECT_EQ(outcome.question.target, "/home/u/other/f");
}

TEST(FileQuestion, ARuleThatOpensIsNamedByItsPlace) {
  const FileOutcome shown = judged(Kind::kRead, "/home/u/shown/a/b");
  EXPECT_TRUE(shown.allowed);
  EXPECT_EQ(shown.opened_at, "/home/u/shown");
  EXPECT_EQ(judged(Kind::kWrite, "/home/u/project/f").opened_at, "/home/u/project");
  EXPECT_FALSE(judged(Kind::kWrite, "/home/u/shown/a").allowed);
  EXPECT_FALSE(judged(Kind::kWrite, "/home/u/shown/a").never) << "what no rule lets be written is a question";
}

TEST(FileQuestion, WhatIsNeverAsked) {
  EXPECT_TRUE(judged(Kind::kRead, "/home/u/.ssh/id").never) << "a credential";
  EXPECT_TRUE(judged(Kind::kWrite, "/home/u/project/kept/f").never) << "a denyWrite";
  EXPECT_TRUE(judged(Kind::kWrite, "/home/u/log/f").never) << "a denyWrite where all is hidden";
  EXPECT_FALSE(judged(Kind::kRead, "/home/u/log/f").never);
  EXPECT_TRUE(judged(Kind::kWrite, "/home/u/shown/.mcp.json").never) << "a name";
  EXPECT_FALSE(judged(Kind::kRead, "/home/u/other/.mcp.json").never) << "a name that is only read";
  EXPECT_TRUE(judged(Kind::kRead, "/home/u/x", {.read = policy::Asking::kNever}).never);
}

TEST(FileQuestion, ANameOfAHomeIsAsked) {
  const FileOutcome absent = judged(Kind::kWrite, "/home/u/project/.ssh/authorized_keys");
  EXPECT_FALSE(absent.allowed) << "although a rule lets the directory be written";
  EXPECT_FALSE(absent.never);
  EXPECT_EQ(absent.question.rule, "home");
  EXPECT_TRUE(judged(Kind::kWrite, "/home/u/project/.ssh/x", {.write = policy::Asking::kNever}).never);
  const std::vector<Rule> rules = {rule(Verb::kAllowWrite, "/home/u"),
                                   rule(Verb::kDenyWrite, "/home/u/bin", Origin::kHome)};
  const policy::Asks asks;
  const FileOutcome there = judge_file({rules, asks}, Kind::kWrite, "/home/u/bin/git");
  EXPECT_FALSE(there.allowed);
  EXPECT_FALSE(there.never);
  EXPECT_EQ(there.closed_at, "/home/u/bin");
}

TEST(FileQuestion, WhatIsDividedByRulesThatCloseSomethingBelow) {
  const plan::SandboxPlan plan;
  EXPECT_TRUE(is_divided(kRules, plan, "/home/u/project"));
  EXPECT_TRUE(is_divided(kRules, plan, "/home"));
  EXPECT_FALSE(is_divided(kRules, plan, "/home/u/project/kept")) << "that is the rule's own place";
  EXPECT_FALSE(is_divided(kRules, plan, "/home/u/proj")) << "a prefix of a name is none of a path";
  const std::vector<Rule> opening = {rule(Verb::kAllowRead, "/d/file"), rule(Verb::kAllowWrite, "/d/file")};
  EXPECT_FALSE(is_divided(opening, plan, "/d")) << "an answer that was saved";
}

TEST(FileQuestion, WhatIsDividedByMounts) {
  plan::SandboxPlan plan;
  EXPECT_FALSE(is_divided(kRules, plan, "/home/u/shown"));
  plan.mounts.push_back({.kind = plan::MountKind::kBind, .target = "/home/u/shown/part"});
  EXPECT_TRUE(is_divided(kRules, plan, "/home/u/shown"));
  EXPECT_FALSE(is_divided(kRules, plan, "/home/u/shown/part"));
}

}  // namespace
}  // namespace hutch::service
