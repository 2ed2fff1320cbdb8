// Which paths are denied by their names alone.
#include "plan/names.h"

#include <gtest/gtest.h>

namespace hutch::plan {
namespace {

std::vector<NameRule> built_in(std::vector<policy::Rule> rules = {}, std::vector<policy::Rule> patterns = {}) {
  return name_rules(policy::Policy(), rules, patterns);
}

TEST(Names, AtAnyDepth) {
  const std::vector<NameRule> names = built_in();
  for (const char* path :
       {"/p/.bashrc", "/p/a/b/c/d/.bashrc", "/p/x/.git/hooks/pre-commit", "/p/.git/modules/a/b/hooks/x",
        "/p/.claude/commands/deep/x.md", "/p/.vscode/a/b", "/p/.git/config", "/.mcp.json"}) {
    EXPECT_NE(denied_name(names, path), nullptr) << path;
  }
  for (const char* path :
       {"/p", "/p/bashrc", "/p/.git/hooks", "/p/.git/hooks/pre-commit.sample", "/p/.bashrc2", "/p/.git", "/p/.git/HEAD",
        "/p/.git/refs/heads/hooks", "/p/hooks/x", "/p/.claude/settings", "/p/.claude", "/p/.git/config.lock"}) {
    EXPECT_EQ(denied_name(names, path), nullptr) << path;
  }
}

TEST(Names, AnEntryForThatVeryPathLiftsIt) {
  policy::Rule entry;
  entry.verb = policy::Verb::kAllowWrite;
  entry.path = "/p/.vscode/settings.json";
  const std::vector<NameRule> names = built_in({entry});
  EXPECT_EQ(denied_name(names, "/p/.vscode/settings.json"), nullptr);
  EXPECT_NE(denied_name(names, "/p/.vscode/tasks.json"), nullptr);
  EXPECT_NE(denied_name(names, "/q/.vscode/settings.json"), nullptr);
  entry.path = "/p";
  EXPECT_NE(denied_name(built_in({entry}), "/p/.vscode/settings.json"), nullptr);
}

TEST(Names, Patterns) {
  policy::Rule pattern;
  pattern.verb = policy::Verb::kDenyWrite;
  pattern.match = policy::Match::kGlob;
  pattern.path = "/p/**/*.pem";
  pattern.text = "**/*.pem";
  pattern.where = "filesystem.denyWrite[0]";
  const std::vector<NameRule> names = built_in({}, {pattern});
  const NameRule* found = denied_name(names, "/p/a/key.pem");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->rule, "filesystem.denyWrite[0] \"**/*.pem\"");
  EXPECT_NE(denied_name(names, "/p/key.pem/inner"), nullptr);
  EXPECT_EQ(denied_name(names, "/q/key.pem"), nullptr);
}

TEST(Names, WhatIsNotThereYet) {
  policy::Rule absent;
  absent.verb = policy::Verb::kDenyWrite;
  absent.path = "/p/st*r";
  absent.text = "st*r";
  absent.where = "--deny-write";
  const std::vector<NameRule> names = built_in({absent});
  EXPECT_NE(denied_name(names, "/p/st*r/inner"), nullptr);
  EXPECT_EQ(denied_name(names, "/p/star"), nullptr);
}

TEST(Names, WhatARuleLooksBelow) {
  const std::vector<NameRule> names = built_in();
  EXPECT_NE(leads_to_name(names, "/p/.git"), nullptr);
  EXPECT_NE(leads_to_name(names, "/p/.claude"), nullptr);
  EXPECT_EQ(leads_to_name(names, "/p/src"), nullptr);
  EXPECT_NE(leads_to_name(names, "/p/.git/hooks"), nullptr);
  EXPECT_NE(leads_to_name(names, "/p/.git/modules"), nullptr);
  EXPECT_EQ(leads_to_name(names, "/p/hooks"), nullptr);
  EXPECT_EQ(leads_to_name(names, "/p/modules"), nullptr);
}

TEST(Names, ALinkBelowGitsOwnDirectoriesLeadsThere) {
  EXPECT_NE(leads_to_name(built_in(), "/p/.git/modules/m"), nullptr);
  EXPECT_EQ(leads_to_name(built_in(), "/p/.git/refs/m"), nullptr);
}

TEST(Names, WhatHoldsARulesPlace) {
  const std::vector<NameRule> names = {
      {"/p/sub/se\\*cret", "a", {}, {}}, {"/p/in/deep/**/k", "b", {}, {}}, {"/**/.git/hooks/*", "c", {}, {}}};
  EXPECT_EQ(holds_name(names, "/p/sub"), &names[0]);
  EXPECT_EQ(holds_name(names, "/p"), &names[0]);
  EXPECT_EQ(holds_name(names, "/p/sub/se*cret"), &names[0]);
  EXPECT_EQ(holds_name(names, "/p/in"), &names[1]);
  EXPECT_EQ(holds_name(names, "/p/in/deep"), &names[1]) << "all below it is meant";
  EXPECT_EQ(holds_name(names, "/p/in/deep/er"), nullptr) << "goes by its names there";
  EXPECT_EQ(holds_name(names, "/p/su"), nullptr);
  EXPECT_EQ(holds_name(names, "/q/.git"), nullptr) << "a name for any depth goes along";
}

TEST(Names, WhatIsMovedBringsAlongWhatWasNotForbiddenThere) {
  const std::vector<NameRule> names = built_in();
  using enum Moved;
  EXPECT_NE(moves_to_name(names, "/p/x", "/p/.git", kDirectoryOrLink), nullptr);
  EXPECT_EQ(moves_to_name(names, "/p/a/.git", "/p/b/.git", kDirectoryOrLink), nullptr);
  // Of the same name, and yet another directory.
  EXPECT_NE(moves_to_name(names, "/p/x/hooks", "/p/.git/hooks", kDirectoryOrLink), nullptr);
  EXPECT_NE(moves_to_name(names, "/p/x/modules", "/p/.git/modules", kDirectoryOrLink), nullptr);
  EXPECT_NE(moves_to_name(names, "/p/x", "/p/.git/modules/x", kDirectoryOrLink), nullptr);
  EXPECT_EQ(moves_to_name(names, "/p/.git/modules/x", "/p/.git/modules/y", kDirectoryOrLink), nullptr);
  EXPECT_EQ(moves_to_name(names, "/p/x", "/p/.git/modules/x", kFile), nullptr);
}

}  // namespace
}  // namespace hutch::plan
