// Which paths are denied by their names alone.
#include "plan/paths/names.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "policy/obeyed/obeyed.h"

namespace hutch::plan {
namespace {

GuardedNames built_in(std::vector<policy::Rule> rules = {}, std::vector<policy::Rule> patterns = {}) {
  return guarded_names(policy::Policy(), rules, patterns);
}

TEST(Names, AtAnyDepth) {
  const GuardedNames names = built_in();
  for (const char* path :
       {"/p/.bashrc", "/p/a/b/c/d/.bashrc", "/p/x/.git/hooks/pre-commit", "/p/.git/modules/a/b/hooks/x",
        "/p/.claude/commands/deep/x.md", "/p/.vscode/a/b", "/p/.git/config", "/.mcp.json", "/p/.hutch-own-0"}) {
    EXPECT_TRUE(denied_name(names, path)) << path;
  }
  for (const char* path :
       {"/p", "/p/bashrc", "/p/.git/hooks", "/p/.git/hooks/pre-commit.sample",
        "/p/.git/hooks/.pre-commit.sample.Xy12Zw", "/p/.bashrc2", "/p/.git", "/p/.git/HEAD", "/p/.git/refs/heads/hooks",
        "/p/hooks/x", "/p/.claude/settings", "/p/.claude", "/p/.git/config.lock", "/p/.hutch-1"}) {
    EXPECT_FALSE(denied_name(names, path)) << path;
  }
}

TEST(Names, WhatTheUserHasCommittedMayLandWhereOnlyTheListDenies) {
  policy::Rule denied;
  denied.verb = policy::Verb::kDenyWrite;
  denied.path = "/p/.vscode/closed";
  const GuardedNames names = built_in({denied});
  for (const char* path : {"/p/.vscode", "/p/.vscode/settings.json", "/p/x/.mcp.json", "/p/.claude/agents/one.md"}) {
    EXPECT_TRUE(replaceable_name(names, path)) << path;
  }
  for (const char* path : {"/p/.vscode/closed", "/p/.git/hooks/x", "/p/.git/config", "/p/.git", "/p/x", "/p/.claude",
                           "/p/.hg/hgrc", "/p/.git/modules/a/config"}) {
    EXPECT_FALSE(replaceable_name(names, path)) << path;
  }
}

TEST(Names, NoDirectoryMovesAboveAFileOfTheListThatExisted) {
  policy::Rule found;
  found.verb = policy::Verb::kDenyWrite;
  found.origin = policy::Origin::kMandatory;
  found.path = "/p/a/.claude/settings.json";
  EXPECT_TRUE(is_kept_file(found));
  const GuardedNames names = built_in({found});
  EXPECT_TRUE(holds_name(names, "/p/a"));
  EXPECT_TRUE(holds_name(names, "/p/a/.claude"));
  EXPECT_FALSE(holds_name(names, "/p/a/b"));
  EXPECT_FALSE(holds_name(names, "/p/b"));
  // Behind a link it has another name, which the list does not have.
  found.text = "/p/a/.envrc";
  EXPECT_FALSE(is_kept_file(found));
  found.text.clear();
  found.path = "/p/.hg/hgrc";
  EXPECT_FALSE(is_kept_file(found));
  found.path = "/p/closed";
  EXPECT_FALSE(is_kept_file(found));
}

TEST(Names, AnEntryForThatVeryPathLiftsIt) {
  policy::Rule entry;
  entry.verb = policy::Verb::kAllowWrite;
  entry.path = "/p/.vscode/settings.json";
  const GuardedNames names = built_in({entry});
  EXPECT_FALSE(denied_name(names, "/p/.vscode/settings.json"));
  EXPECT_TRUE(denied_name(names, "/p/.vscode/tasks.json"));
  EXPECT_TRUE(denied_name(names, "/q/.vscode/settings.json"));
  entry.path = "/p";
  EXPECT_TRUE(denied_name(built_in({entry}), "/p/.vscode/settings.json"));
}

TEST(Names, Patterns) {
  policy::Rule pattern;
  pattern.verb = policy::Verb::kDenyWrite;
  pattern.match = policy::Match::kGlob;
  pattern.path = "/p/**/*.pem";
  pattern.text = "**/*.pem";
  pattern.where = "filesystem.denyWrite[0]";
  const GuardedNames names = built_in({}, {pattern});
  const auto found = denied_name(names, "/p/a/key.pem");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rule, "filesystem.denyWrite[0] \"**/*.pem\"");
  EXPECT_TRUE(denied_name(names, "/p/key.pem/inner"));
  EXPECT_FALSE(denied_name(names, "/q/key.pem"));
}

TEST(Names, WhatIsNotThereYet) {
  policy::Rule absent;
  absent.verb = policy::Verb::kDenyWrite;
  absent.path = "/p/st*r";
  absent.text = "st*r";
  absent.where = "--deny-write";
  const GuardedNames names = built_in({absent});
  EXPECT_TRUE(denied_name(names, "/p/st*r/inner"));
  EXPECT_FALSE(denied_name(names, "/p/star"));
}

TEST(Names, WhatARuleLooksBelow) {
  const GuardedNames names = built_in();
  EXPECT_TRUE(leads_to_name(names, "/p/.git"));
  EXPECT_TRUE(leads_to_name(names, "/p/.claude"));
  EXPECT_FALSE(leads_to_name(names, "/p/src"));
  EXPECT_TRUE(leads_to_name(names, "/p/.git/hooks"));
  EXPECT_TRUE(leads_to_name(names, "/p/.git/modules"));
  EXPECT_FALSE(leads_to_name(names, "/p/hooks"));
  EXPECT_FALSE(leads_to_name(names, "/p/modules"));
}

TEST(Names, ALinkBelowGitsOwnDirectoriesLeadsThere) {
  EXPECT_TRUE(leads_to_name(built_in(), "/p/.git/modules/m"));
  EXPECT_FALSE(leads_to_name(built_in(), "/p/.git/refs/m"));
}

// As git-init(1) tries a link, in the repository of a submodule: what is made below "testing" is judged alike.
TEST(Names, ALinkToTheNameBesideItLeadsToNothingMore) {
  const GuardedNames names = built_in();
  const auto leads = [&](const char* beside, const char* link) {
    return moves_to_name(names, beside, link, Moved::kDirectoryOrLink).has_value();
  };
  EXPECT_FALSE(leads("/p/.git/modules/m/testing", "/p/.git/modules/m/tAbCdE"));
  EXPECT_FALSE(leads("/p/.git/modules/a/b/testing", "/p/.git/modules/a/b/tAbCdE"));
  EXPECT_TRUE(leads("/p/.git/testing", "/p/.git/hooks"));
  EXPECT_TRUE(leads("/p/.git/testing", "/p/.git/modules"));
  EXPECT_TRUE(leads("/p/.git/modules/m/testing", "/p/.git/modules/m/hooks"));
  EXPECT_TRUE(leads("/p/.git/modules/m/testing", "/p/.git/modules/m/branches"));
  EXPECT_TRUE(leads("/p/.git/testing", "/p/.git/worktrees"));
}

TEST(Names, WhatHoldsARulesPlace) {
  const GuardedNames names{.rules = {{"/p/sub/se\\*cret", "a", {}, {}},
                                     {"/p/in/deep/**/k", "b", {}, {}},
                                     {"/**/.git/hooks/*", "c", {}, {}}}};
  const auto held_by = [&](const char* path) {
    const auto rule = holds_name(names, path);
    return rule ? rule->rule : std::string();
  };
  EXPECT_EQ(held_by("/p/sub"), "a");
  EXPECT_EQ(held_by("/p"), "a");
  EXPECT_EQ(held_by("/p/sub/se*cret"), "a");
  EXPECT_EQ(held_by("/p/in"), "b");
  EXPECT_EQ(held_by("/p/in/deep"), "b") << "all below it is meant";
  EXPECT_EQ(held_by("/p/in/deep/er"), "") << "goes by its names there";
  EXPECT_EQ(held_by("/p/su"), "");
  EXPECT_EQ(held_by("/q/.git"), "") << "a name for any depth goes along";
}

TEST(Names, WhatIsMovedBringsAlongWhatWasNotForbiddenThere) {
  const GuardedNames names = built_in();
  using enum Moved;
  EXPECT_TRUE(moves_to_name(names, "/p/x", "/p/.git", kDirectoryOrLink));
  EXPECT_FALSE(moves_to_name(names, "/p/a/.git", "/p/b/.git", kDirectoryOrLink));
  // Of the same name, and yet another directory.
  EXPECT_TRUE(moves_to_name(names, "/p/x/hooks", "/p/.git/hooks", kDirectoryOrLink));
  EXPECT_TRUE(moves_to_name(names, "/p/x/modules", "/p/.git/modules", kDirectoryOrLink));
  EXPECT_TRUE(moves_to_name(names, "/p/x", "/p/.git/modules/x", kDirectoryOrLink));
  EXPECT_FALSE(moves_to_name(names, "/p/.git/modules/x", "/p/.git/modules/y", kDirectoryOrLink));
  EXPECT_FALSE(moves_to_name(names, "/p/x", "/p/.git/modules/x/objects/pack/x", kFile));
}

TEST(Names, RemotesOfModulesAreHeldAndReferencesAreNot) {
  const GuardedNames names = built_in();
  for (const char* held : {"/p/.git/modules/m/remotes", "/p/.git/modules/m/remotes/r", "/p/.git/modules/a/m/remotes/r",
                           "/p/.git/modules/a/m/branches/b", "/p/.git/modules/m/modules/n/branches/b"}) {
    EXPECT_TRUE(denied_name(names, held)) << held;
  }
  for (const char* open : {"/p/.git/modules/m/branches", "/p/.git/modules/m/refs/remotes/origin/HEAD",
                           "/p/.git/modules/m/logs/refs/remotes/origin/HEAD", "/p/.git/modules/m/refs/heads/branches/x",
                           "/p/.git/modules/m/modules/n/refs/remotes/origin/HEAD"}) {
    EXPECT_FALSE(denied_name(names, open)) << open;
  }
}

TEST(Names, EachNameOfTheListIsHeldOrTold) {
  const GuardedNames names = built_in();
  for (const policy::ObeyedFile& file : policy::obeyed_files()) {
    const std::string name = file.name.starts_with('*') ? cat({"x", file.name.substr(1)}) : std::string(file.name);
    for (const char* above : {"/", "/p/", "/p/a/b/c/"}) {
      for (const char* below : {"", "/in/deep"}) {
        const std::string path = cat({above, name, below});
        const bool held = file.treatment == policy::ObeyedTreatment::kHeld;
        EXPECT_TRUE(held ? denied_name(names, path) : told_name(names, path)) << path;
      }
    }
  }
}

TEST(Names, WhatASettingOfGitNamesInEachWorkTree) {
  const std::vector<NameRule> obeyed = {{"/**/.githooks/pre-commit", "git obeys it", {}, {}}};
  policy::Rule entry;
  entry.verb = policy::Verb::kAllowWrite;
  entry.path = "/p";
  const GuardedNames held = guarded_names(policy::Policy(), std::vector{entry}, {}, obeyed);
  EXPECT_TRUE(denied_name(held, "/p/new/.githooks/pre-commit"));
  EXPECT_FALSE(denied_name(held, "/p/new/.githooks/readme"));
  EXPECT_TRUE(moves_to_name(held, "/p/d", "/p/new/.githooks", Moved::kDirectoryOrLink));
  for (const char* lifting : {"/p/.githooks", "/p/.githooks/pre-commit"}) {
    entry.path = lifting;
    const GuardedNames lifted = guarded_names(policy::Policy(), std::vector{entry}, {}, obeyed);
    EXPECT_FALSE(denied_name(lifted, "/p/.githooks/pre-commit")) << lifting;
    EXPECT_TRUE(denied_name(lifted, "/p/new/.githooks/pre-commit")) << lifting;
  }
}

TEST(Names, ThePolicyLiftsANameOfTheList) {
  policy::Policy policy;
  policy.filesystem.allow_obeyed = {".npmrc", "CLAUDE.md"};
  const GuardedNames names = guarded_names(policy, {}, {});
  EXPECT_FALSE(denied_name(names, "/p/a/.npmrc"));
  EXPECT_TRUE(denied_name(names, "/p/a/.envrc"));
  EXPECT_FALSE(told_name(names, "/p/CLAUDE.md"));
  EXPECT_TRUE(told_name(names, "/p/AGENTS.md"));
}

TEST(Names, InAPlaceOfTheSandboxsOwnOnlyGitsNamesAreHeld) {
  GuardedNames names = built_in();
  names.own = {"/workspace/agents/alice"};
  for (const char* path : {".bashrc", "a/.npmrc", ".vscode/tasks.json", ".claude/settings.json"}) {
    EXPECT_FALSE(denied_name(names, cat({"/workspace/agents/alice/", path}))) << path;
    EXPECT_TRUE(denied_name(names, cat({"/workspace/agents/alice2/", path}))) << path;
  }
  EXPECT_FALSE(told_name(names, "/workspace/agents/alice/CLAUDE.md"));
  EXPECT_FALSE(moves_to_told(names, "/tmp/x", "/workspace/agents/alice/.junie"));
  EXPECT_FALSE(leads_to_name(names, "/workspace/agents/alice/.claude"));
  EXPECT_TRUE(leads_to_name(names, "/p/.claude"));
  EXPECT_TRUE(moves_to_name(names, "/workspace/agents/alice/x", "/p/.claude", Moved::kDirectoryOrLink));
  EXPECT_FALSE(leaves_packages(names, "/workspace/agents/alice/node_modules/m", "/workspace/agents/alice/m"));
  EXPECT_TRUE(leaves_packages(names, "/workspace/agents/alice/node_modules/m", "/p/m"));
  for (const char* path : {"r/.git/hooks/pre-commit", "r/.git/config", ".git/modules/a/hooks/x"}) {
    EXPECT_TRUE(denied_name(names, cat({"/workspace/agents/alice/", path}))) << path;
  }
}

TEST(Names, PackagesBringNamesAlong) {
  const GuardedNames names = built_in();
  EXPECT_FALSE(denied_name(names, "/p/node_modules/m/.npmrc"));
  EXPECT_TRUE(denied_name(names, "/p/node_modules/m/.vscode/tasks.json"));
  EXPECT_TRUE(leaves_packages(names, "/p/node_modules/m", "/p/m"));
  EXPECT_TRUE(leaves_packages(names, "/p/node_modules", "/p/old"));
  EXPECT_FALSE(leaves_packages(names, "/p/node_modules/m", "/p/node_modules/k"));
  EXPECT_FALSE(leaves_packages(names, "/p/m", "/p/node_modules/m"));
  EXPECT_FALSE(leaves_packages(GuardedNames(), "/p/node_modules", "/p/old"));
}

TEST(Names, ADirectoryThatBringsToldNames) {
  const GuardedNames names = built_in();
  EXPECT_TRUE(moves_to_told(names, "/p/x", "/p/.junie"));
  EXPECT_FALSE(moves_to_told(names, "/p/a/.junie", "/p/b/.junie"));
  EXPECT_FALSE(moves_to_told(names, "/p/x", "/p/y"));
}

TEST(Names, OfAHomeAnAnswerOpensOnePath) {
  policy::Rule rule;
  rule.verb = policy::Verb::kDenyWrite;
  rule.origin = policy::Origin::kHome;
  rule.path = "/home/u/.ssh";
  rule.where = "home";
  GuardedNames names = built_in({rule});
  names.places.home = "/home/u";
  using enum NameRule::Asking;
  for (const char* path :
       {"/home/u/.ssh/authorized_keys", "/home/u/.ssh", "/home/u/.bashrc", "/home/u/.claude/hooks"}) {
    const auto denied = denied_name(names, path);
    ASSERT_TRUE(denied) << path;
    EXPECT_EQ(denied->asking, kMayBe) << path;
    names.granted = {path};
    EXPECT_FALSE(denied_name(names, path)) << path;
    names.granted = {"/home/u/other"};
  }
  const auto deep = denied_name(names, "/home/u/p/.bashrc");
  ASSERT_TRUE(deep);
  EXPECT_EQ(deep->asking, kNever);
  names.granted = {"/home/u/p/.bashrc"};
  EXPECT_TRUE(denied_name(names, "/home/u/p/.bashrc"));
  policy::Rule entry;
  entry.verb = policy::Verb::kAllowWrite;
  entry.path = "/home/u/.ssh/authorized_keys";
  const GuardedNames lifted = built_in({rule, entry});
  EXPECT_FALSE(denied_name(lifted, "/home/u/.ssh/authorized_keys"));
  EXPECT_TRUE(denied_name(lifted, "/home/u/.ssh/config"));
}

TEST(NamesThatMayBeDenied, NoDeniedPathIsMissed) {
  GuardedNames names;
  names.rules.push_back({"/**/tools/watch", "x", {}, {}});
  names.rules.push_back({"/home/u/p/[a-c]*.key", "x", {}, {}});
  const MayBeDenied may_be(names);
  for (const policy::ObeyedFile& file : policy::obeyed_files()) {
    std::string name(file.name);
    if (name.starts_with('*')) name = "x" + name.substr(1);
    EXPECT_TRUE(may_be("src/" + name)) << name;
  }
  EXPECT_TRUE(may_be("tools/watch"));
  names.rules.pop_back();
  EXPECT_FALSE(MayBeDenied(names)("src/lib/main"));
}

TEST(Names, FilesWithAProtectedNameBesides) {
  GuardedNames names{.rules = {}};
  names.places.linked = {{1, 2, "/p/.git/hooks/pre-commit"}, {1, 3, "/p/.gitconfig"}};
  EXPECT_TRUE(rule_of_linked(names, 1, 3)->rule.contains("/p/.gitconfig"));
  EXPECT_FALSE(rule_of_linked(names, 1, 4));
  EXPECT_FALSE(rule_of_linked(names, 2, 2));
  names.lifted = {"/p/.gitconfig"};
  EXPECT_FALSE(rule_of_linked(names, 1, 3)) << "the user lets it be written";
}

// An entry for a directory lifts names in it, but none that is about one path.
TEST(Names, ARuleAboutOnePathIsLiftedByThatPath) {
  const std::vector<NameRule> obeyed = {{"/p/gc", "git obeys it", {}, {}}};
  const auto denies = [&](std::string lifted) {
    const policy::Rule allow{.verb = policy::Verb::kAllowWrite, .path = std::move(lifted)};
    return denied_name(guarded_names({}, std::vector{allow}, {}, obeyed), "/p/gc").has_value();
  };
  EXPECT_TRUE(denies("/p"));
  EXPECT_FALSE(denies("/p/gc"));
}

}  // namespace
}  // namespace hutch::plan
