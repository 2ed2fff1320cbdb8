// Which files git's configuration names.
#include "policy/git_obeyed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "policy/glob.h"

namespace hutch::policy {
namespace {

std::vector<std::string> paths(const GitEntry& entry) {
  std::vector<std::string> all;
  for (const ObeyedName& name : obeyed_names(entry)) {
    all.push_back((name.needs == ObeyedName::Needs::kFile ? "?" : "") + name.path);
  }
  return all;
}

TEST(GitObeyed, ReadsWhatGitReads) {
  const std::vector<GitEntry> entries = git_entries(
      "\xef\xbb\xbf# a comment\n[core] hooksPath = .husky ; said\n\tbare\r\n"
      "[Filter \"a \\\"b\\\"\"]\n\tclean = \"x # y\" \\\n  z\t\n[diff.Old]\nCommand=a\\tb\n[include]\n path=../x\n");
  const std::vector<GitEntry> wanted = {{"core", "", "hookspath", ".husky"},
                                        {"core", "", "bare", ""},
                                        {"filter", "a \"b\"", "clean", "x # y   z"},
                                        {"diff", "Old", "command", "a\tb"},
                                        {"include", "", "path", "../x"}};
  EXPECT_EQ(entries, wanted);
}

TEST(GitObeyed, WhatIsDamagedHidesNothingBehindIt) {
  for (const char* damage : {"[core", "[a \"b]", "=x", "\x01", "[]", "[core]]", "a = \"b\n", "[a] b = \\"}) {
    const std::vector<GitEntry> entries = git_entries(std::string(damage) + "\n\n[core]\nhooksPath = .h\n");
    ASSERT_FALSE(entries.empty()) << damage;
    EXPECT_EQ(entries.back(), (GitEntry{"core", "", "hookspath", ".h"})) << damage;
  }
}

TEST(GitObeyed, NamesByTheirKind) {
  using Paths = std::vector<std::string>;
  EXPECT_EQ(paths({"core", "", "hookspath", ".githooks/"}), Paths{".githooks"});
  EXPECT_EQ(paths({"core", "", "hookspath", ".husky/_"}), Paths{".husky"});
  EXPECT_EQ(paths({"include", "", "path", "shared"}), Paths{"shared"});
  EXPECT_EQ(paths({"core", "", "attributesfile", "attributes"}), Paths{"?attributes"});
  EXPECT_EQ(paths({"core", "", "fsmonitor", "tools/watch"}), Paths{"tools/watch"});
  EXPECT_EQ(paths({"core", "", "fsmonitor", "true"}), Paths{"?true"});
  EXPECT_EQ(paths({"alias", "", "t", "!python3 'tools/a b.py' x"}), (Paths{"?python3", "?tools/a b.py", "?x"}));
  EXPECT_EQ(paths({"diff", "", "external", "./d.sh --x=y"}), (Paths{"./d.sh", "?--x", "?y"}));
  EXPECT_EQ(paths({"user", "", "name", "/etc"}), Paths());
}

TEST(GitObeyed, CommandsBehindOthers) {
  using Paths = std::vector<std::string>;
  EXPECT_EQ(paths({"alias", "", "t", "!cd . && tools/x"}), (Paths{"./tools/x", "?tools/x"}));
  EXPECT_EQ(paths({"alias", "", "t", "!cd tools; cd a && ./x y"}), (Paths{"tools/a/./x", "?./x", "?tools/a/y", "?y"}));
  EXPECT_EQ(paths({"alias", "", "t", "!true | exec tools/x"}), (Paths{"?true", "?exec", "tools/x"}));
  EXPECT_EQ(paths({"alias", "", "t", "!f() { tools/x; }; f"}), (Paths{"?f", "tools/x", "?f"}));
  EXPECT_EQ(paths({"alias", "", "t", "!cd /a && b/c"}), (Paths{"/a/b/c", "?b/c"}));
}

TEST(GitObeyed, WhatAShellExpandsToTheWorkTree) {
  using Paths = std::vector<std::string>;
  const auto alias = [](std::string value) { return paths({"alias", "", "t", std::move(value)}); };
  EXPECT_EQ(alias("!$(git rev-parse --show-toplevel)/tools/x"), Paths{"./tools/x"});
  EXPECT_EQ(alias("!`git rev-parse --show-toplevel`/tools/x"), Paths{"./tools/x"});
  EXPECT_EQ(alias("!\"${GIT_PREFIX:-.}/tools/x\""), Paths{"./tools/x"});
  EXPECT_EQ(alias("!cd \"$(git rev-parse --show-toplevel)/tools\" && ./x"), (Paths{"./tools/./x", "?./x"}));
  EXPECT_EQ(alias("!${HOME}/bin/x"), Paths{"~/bin/x"});
  EXPECT_EQ(alias("!$X/tools/x"), Paths{"?$X/tools/x"});
}

TEST(GitObeyed, CommandsInWords) {
  const auto has = [](std::string value, const std::string& path) {
    const std::vector<std::string> all = paths({"core", "", "fsmonitor", std::move(value)});
    return std::ranges::find(all, path) != all.end();
  };
  EXPECT_TRUE(has("sh -c \"exec ./tools/x\"", "./tools/x"));
  EXPECT_TRUE(has("sh -c 'a; sh -c \"tools/y b\"'", "tools/y"));
  EXPECT_TRUE(has("PATH=./tools:$PATH x", "./tools/x"));
  EXPECT_FALSE(has("PATH=$PATH:tools/y x", "$PATH/x"));
  EXPECT_TRUE(has("python3 -m tools.x", "?tools/x.py"));
  EXPECT_TRUE(has("python3 -m tools.x", "?tools/x/__main__.py"));
  std::string deep = "x y";
  for (int i = 0; i < 200; ++i) deep = "sh -c \"" + deep + "\"";
  EXPECT_TRUE(has(deep, "?-c"));
}

TEST(GitObeyed, TheEnvironment) {
  const std::vector<std::string> environment = {"GIT_CONFIG_GLOBAL=/p/config",
                                                "XDG_CONFIG_HOME=/p/xdg",
                                                "GIT_CONFIG_COUNT=1",
                                                "GIT_CONFIG_KEY_0=Filter.a.b.Clean",
                                                "GIT_CONFIG_VALUE_0=tools/x",
                                                "GIT_CONFIG_PARAMETERS='core.pager=a b' 'core.editor'='it'\\''s'",
                                                "GIT_EDITOR=",
                                                "EDITOR=tools/edit",
                                                "HOME=/h"};
  const std::vector<GitEntry> wanted = {{"include", "", "path", "/p/config"},
                                        {"include", "", "path", "/p/xdg/git/config"},
                                        {"core", "", "attributesfile", "/p/xdg/git/attributes"},
                                        {"core", "", "excludesfile", "/p/xdg/git/ignore"},
                                        {"core", "", "editor", "tools/edit"},
                                        {"filter", "a.b", "clean", "tools/x"},
                                        {"core", "", "pager", "a b"},
                                        {"core", "", "editor", "it's"}};
  EXPECT_EQ(git_entries_of(environment), wanted);
}

TEST(GitObeyed, NamesInAnyWorkTree) {
  using Patterns = std::vector<std::string>;
  const auto program = [](std::string path) { return obeyed_in_any_work_tree({GitRead::kProgram, std::move(path)}); };
  EXPECT_EQ(program("./tools/x"), Patterns{"/**/tools/x"});
  EXPECT_EQ(program("tools/[x]"), Patterns{"/**/" + escape_wildcards("tools/[x]")});
  for (const char* path : {"/a/b", "~/a/b", "../a/b", "a/../b", "true", "./x", "", "$X/a"}) {
    EXPECT_EQ(program(path), Patterns()) << path;
  }
  const Patterns hooks = obeyed_in_any_work_tree({GitRead::kHooks, "hooks"});
  EXPECT_TRUE(std::ranges::find(hooks, "/**/hooks/pre-commit") != hooks.end());
  EXPECT_TRUE(std::ranges::find(hooks, "/**/hooks") == hooks.end());
}

TEST(GitObeyed, Paths) {
  EXPECT_EQ(obeyed_path("~/x", "/home/a", "/p"), "/home/a/x");
  EXPECT_EQ(obeyed_path("x/y", "/home/a", "/p"), "/p/x/y");
  EXPECT_EQ(obeyed_path("/x", "/home/a", "/p"), "/x");
  EXPECT_EQ(obeyed_path("~bob/x", "/home/a", "/p"), std::nullopt);
  EXPECT_EQ(obeyed_path("%(prefix)/x", "/home/a", "/p"), std::nullopt);
}

// hutch protects the value of each setting in the table that names something.
TEST(GitObeyed, EachSettingOfTheTable) {
  for (const GitSetting& setting : git_settings()) {
    const std::string key = setting.key == "*" ? "any" : std::string(setting.key);
    const bool named = !obeyed_names({std::string(setting.section), "x", key, "tools/x"}).empty();
    EXPECT_EQ(named, setting.read != GitRead::kNothing) << setting.section << "." << key;
  }
}

}  // namespace
}  // namespace hutch::policy
