// Which files git's configuration names.
#include "policy/git/obeyed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <utility>

#include "policy/glob.h"

namespace hutch::policy {
namespace {

// "!": with or without a file, "~": with no directory, "?": with a file, "P:": a program by PATH, "*:": a pattern.
std::vector<std::string> paths(const GitEntry& entry) {
  static constexpr std::array<const char*, 5> kMarks = {"!", "~", "?", "P:", "*:"};
  std::vector<std::string> all;
  for (const ObeyedName& name : obeyed_names(entry)) {
    all.push_back(kMarks.at(static_cast<std::size_t>(name.needs)) + name.path);
  }
  return all;
}

std::vector<std::string> of_alias(std::string value) { return paths({"alias", "", "t", std::move(value)}); }
bool names_path(const std::vector<std::string>& all, const std::string& path) {
  return std::ranges::find(all, path) != all.end();
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
  EXPECT_EQ(paths({"core", "", "hookspath", ".githooks/"}), Paths{"!.githooks"});
  EXPECT_EQ(paths({"core", "", "hookspath", ".husky/_"}), Paths{"!.husky"});
  EXPECT_EQ(paths({"include", "", "path", "shared"}), Paths{"!shared"});
  EXPECT_EQ(paths({"core", "", "attributesfile", "attributes"}), Paths{"?attributes"});
  EXPECT_EQ(paths({"core", "", "fsmonitor", "tools/watch"}), Paths{"!tools/watch"});
  EXPECT_EQ(paths({"core", "", "fsmonitor", "true"}), Paths{"P:true"});
  EXPECT_EQ(of_alias("!python3 'tools/a b.py' x"), (Paths{"?b.py", "P:python3", "~tools/a", "!tools/a b.py", "?x"}));
  EXPECT_EQ(paths({"diff", "", "external", "./d.sh --x=y"}), (Paths{"!./d.sh", "?y"}));
  EXPECT_EQ(paths({"user", "", "name", "/etc"}), Paths());
}

TEST(GitObeyed, CommandsBehindOthers) {
  using Paths = std::vector<std::string>;
  EXPECT_EQ(of_alias("!cd tools; cd a && ./x y"), (Paths{"?./x", "P:cd", "!tools/a/./x", "?tools/a/y", "?y"}));
  EXPECT_EQ(of_alias("!true | exec tools/x"), (Paths{"P:exec", "!tools/x", "P:true"}));
  EXPECT_EQ(of_alias("!f() { tools/x; }; f"), (Paths{"P:f", "!tools/x"}));
  EXPECT_EQ(of_alias("!cd /a && b/c"), (Paths{"!/a/b/c", "?b/c", "P:cd"}));
  EXPECT_EQ(of_alias("!(cd a && ./x); ./y"), (Paths{"?./x", "!./y", "!a/./x", "P:cd"}));
}

struct Obeyed {
  const char* value;
  const char* path;
};

// What each runs: the program tools/x.
TEST(GitObeyed, WhatAShellMakesOfAName) {
  for (const Obeyed& row : std::initializer_list<Obeyed>{
           {"!$(git rev-parse --show-toplevel)/tools/x", "!./tools/x"},
           {"!`git rev-parse --show-toplevel`/tools/x", "!./tools/x"},
           {"!$(git rev-parse --show-toplevel 2>/dev/null)/tools/x", "!./tools/x"},
           {"!T=$(git rev-parse --show-toplevel); $T/tools/x", "!./tools/x"},
           {"!f() { root=\"$(git rev-parse --show-toplevel)\"; \"$root/tools/x\" \"$@\"; }; f", "!./tools/x"},
           {"!f() { \"$root/tools/x\" \"$@\"; }; root=$(git rev-parse --show-toplevel); f", "!./tools/x"},
           {"!$(git rev-parse --absolute-git-dir)/../tools/x", "!tools/x"},
           {"!$(git rev-parse --git-dir)/tools/x", "!.git/tools/x"},
           {"!\"${GIT_PREFIX:-.}/tools/x\"", "!./tools/x"},
           {"!\"${GIT_PREFIX:-./}\"tools/x", "!tools/x"},
           {"!sh ./${GIT_PREFIX}tools/x", "!./tools/x"},
           {"!$GIT_PREFIX/tools/x", "!./tools/x"},
           {"!$X/tools/x", "~./tools/x"},
           {"!${X:-tools}/x", "!tools/x"},
           {"!${X:-$(pwd)}/tools/x", "!./tools/x"},
           {"!d=tools; $d/x", "!tools/x"},
           {"!d=$(cd tools && pwd); $d/x", "!tools/x"},
           {"!${HOME}/tools/x", "!~/tools/x"},
           {"!cd \"$(git rev-parse --show-toplevel)/tools\" && ./x", "!./tools/./x"},
           {"!cd -- \"$(git rev-parse --show-toplevel)\" && ./tools/x", "!././tools/x"},
           {"!cd \"$(git rev-parse --show-cdup)tools\" && ./x", "!tools/./x"},
           {"!env -C tools ./x", "~tools/./x"},
           {"!nice -n5 ./tools/x", "~./tools/x"},
           {"!timeout 5 tools/x", "~tools/x"},
           {"!git -c alias.y=!tools/x y", "!tools/x"},
           {"!git -c core.fsmonitor=tools/x status", "!tools/x"},
           {"-c core.fsmonitor=tools/x status", "!tools/x"},
           {"!git rebase -x 'tools/x a' main", "!tools/x"},
           {"!git fetch --upload-pack=tools/x", "!tools/x"},
           {"!git filter-branch --tree-filter tools/x", "!tools/x"},
           {"!GIT_EDITOR='tools/x -w' git commit", "!tools/x"},
           {"!find . -exec tools/x {} +", "!tools/x"},
           {"!PATH=tools:$PATH; x", "!tools/x"},
           {"!PATH=tools:$PATH exec x", "!tools/x"},
           {"!export PATH=$(pwd)/tools:$PATH; x", "!./tools/x"},
           {"!tools/?", "*:tools/?"},
           {"!f() { ./tools/$1; }; f", "*:tools/*"},
           {"!sh -c \"exec ./tools/x\"", "!./tools/x"},
           {"!sh -c 'a; sh -c \"tools/x b\"'", "!tools/x"},
           {"!f() { # don't\n tools/x; }; f", "!tools/x"},
           {"!ssh -Ftools/x", "~tools/x"},
       }) {
    EXPECT_TRUE(names_path(of_alias(row.value), row.path)) << row.value;
  }
}

TEST(GitObeyed, WhatInterpretersAndLoopsRun) {
  for (const Obeyed& row : std::initializer_list<Obeyed>{
           {"!python3 -m tools.x", "!tools/x.py"},
           {"!python3 -m tools.x", "!tools/x/__main__.py"},
           {"!python3 -m tools.x", "!tools/__init__.py"},
           {"!\"/usr/bin/python3\" -m nbstripout", "!nbstripout.py"},
           {"!python3.11 -Wignore -m nbstripout", "!nbstripout/__init__.py"},
           {"!python3 -c 'import json, sys; import a.b as c,d'", "!json.py"},
           {"!python3 -c 'import json, sys; import a.b as c,d'", "!a/b/__init__.py"},
           {"!python3 -Wc -c \"from tools.x import y\"", "!tools/x.py"},
           {"!cd tools && python3 -m x", "!tools/x.py"},
           {"!python3 tools/x", "!tools/x"},
           {"!python3 tools/x", "!tools/x/__main__.py"},
           {"!CDPATH= cd tools && ./x", "!tools/./x"},
           {"!CDPATH= cd -- \"tools\" && ./x", "!tools/./x"},
           {"!command cd tools && ./x", "!tools/./x"},
           {"!if cd tools; then ./x; fi", "!tools/./x"},
           {"!builtin cd tools; ./x", "!tools/./x"},
           {"!for f in tools/*; do \"$f\"; done", "*:tools/*"},
           {"!for f in ./tools/*.sh; do . \"$f\"; done", "*:tools/*.sh"},
           {"!for d in a tools; do (cd $d && ./x); done", "!tools/./x"},
           {"!for s in y x; do sh ./tools/$s; done", "!./tools/x"},
           {"!for s in a b c d e x; do sh ./tools/$s; done", "*:tools/*"},
           {"!run-parts tools", "*:tools/*"},
           {"!find tools -exec sh {} ;", "*:tools/*"},
           {"!bash -x tools/x", "!tools/x"},
           {"!sh -x x", "?x"},
           {"!PATH=tools:$PATH y", "*:tools/*"},
           {"!./x-$(uname -m)", "*:x-*"},
       }) {
    EXPECT_TRUE(names_path(of_alias(row.value), row.path)) << row.value;
  }
}

// Each is what people have. No name of the project is held by it, but for files that it mentions.
TEST(GitObeyed, OrdinarySettings) {
  for (const char* value :
       {"!code --wait", "!less -FRX", "!git-lfs filter-process", "!delta", "!nvim", "!git log --oneline",
        "!f() { git push origin \"$1\"; }; f", "!f() { git log ${1:-origin/main}..HEAD; }; f",
        "!sh -c 'git log $1@{1}..$1@{0}' -",
        "!git rebase origin/main && rm -f \"$(git rev-parse --git-dir)/index.lock\"",
        "!git for-each-ref --format='%(refname:short)' refs/heads", "!git subtree push --prefix docs/dist origin pages",
        "!rm -rf build/out && make", "!test -d \"$(git rev-parse --git-dir)/rebase-merge\" && git rebase --abort",
        "!git branch --merged | grep -v '^\\*\\|main' | xargs -n 1 git branch -d", "log --oneline", "diff a/b"}) {
    for (const std::string& path : of_alias(value)) {
      EXPECT_TRUE(path.starts_with("?") || path.starts_with("P:")) << value << ": " << path;
      EXPECT_FALSE(
          names_path({"?log", "?origin", "?push", "?git", "?code", "?less", "?main", "?.git/index.lock"}, path))
          << value;
    }
  }
  EXPECT_FALSE(names_path(paths({"core", "", "fsmonitor", "PATH=$PATH:tools/y x"}), "!$PATH/x"));
}

TEST(GitObeyed, LargeAndDamagedLinesEnd) {
  std::string deep = "x y";
  for (int i = 0; i < 200; ++i) deep = "sh -c \"" + deep + "\"";
  EXPECT_TRUE(names_path(of_alias("!" + deep), "P:sh"));
  for (const char* part : {"$(", "${", "${a:-", "`", "\"$(", "'", "(", "a=$a$a; ", "$($(a)$(b)); ", "a=b=c=d ",
                           "-c a.b=!", "PATH=a:b; x ", "cd a; ", "| x -c '$", "\\", "for a in b c; do $a/x; ",
                           "python3 -m a.a.a.a.a ", "python3 -c 'import a.b, c' "}) {
    std::string line = "!";
    while (line.size() < 20'000) line += part;
    (void)of_alias(line + " tools/x");
    EXPECT_TRUE(names_path(of_alias("!tools/x; " + line), "!tools/x")) << part;
  }
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
  EXPECT_EQ(program("../tools/x"), Patterns{"/**/tools/x"});
  EXPECT_EQ(program("l/../tools/x"), Patterns{"/**/tools/x"});
  for (const char* path : {"/a/b", "~/a/b", "../a", "a/../b", "true", "./x", "", "..", "a/..", "$X/a"}) {
    EXPECT_EQ(program(path), Patterns()) << path;
  }
  const Patterns hooks = obeyed_in_any_work_tree({GitRead::kHooks, "hooks"});
  EXPECT_TRUE(std::ranges::find(hooks, "/**/hooks/pre-commit") != hooks.end());
  EXPECT_TRUE(std::ranges::find(hooks, "/**/hooks") == hooks.end());
  EXPECT_EQ(obeyed_in_any_work_tree({GitRead::kHooks, "hk/../hooks"}), hooks);
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
