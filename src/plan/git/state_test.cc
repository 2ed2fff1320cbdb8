// Which prepared operations of git run something.
#include "plan/git/state.h"

#include <gtest/gtest.h>

#include <string>

#include "base/text.h"

namespace hutch::plan {
namespace {

bool harmless(std::string_view name, const std::string& text) {
  for (const GitStateFile& file : git_state_files()) {
    if (file.name == name) return is_harmless_git_state(file, text);
  }
  ADD_FAILURE() << name;
  return false;
}

TEST(GitState, TodoWithoutCommandsIsHarmless) {
  EXPECT_TRUE(harmless("git-rebase-todo", "pick 1234 exec x\n# exec x\n\nfixup -C 12 a\nlabel onto\nmerge -C 1 x\n"));
  for (const char* text : {"exec x", "x make", "pick 1 a\n  exec\tx\n", "\tx y", "exec", "pick 1\nexec\rx"}) {
    EXPECT_FALSE(harmless("git-rebase-todo", text)) << text;
  }
  EXPECT_FALSE(harmless("git-rebase-todo", std::string(kGitStateBytesMax + 1, '\n')));
}

TEST(GitState, ReferencesThatGitWrites) {
  const std::string names = "\n0000\n1234\n";
  for (const char* reference : {"refs/heads/a", "refs/x", "ORIG_HEAD"}) {
    EXPECT_TRUE(harmless("update-refs", reference + names)) << reference;
    EXPECT_TRUE(harmless("git-rebase-todo", cat({"pick 1 a\nupdate-ref ", reference, "\n"}))) << reference;
  }
  for (const char* reference : {"commondir", "d/HEAD", "refs/../config", "refs", "Config", "HEAD2"}) {
    EXPECT_FALSE(harmless("update-refs", reference + names)) << reference;
    EXPECT_FALSE(harmless("update-refs", cat({"refs/heads/a", names, reference, names}))) << reference;
    EXPECT_FALSE(harmless("git-rebase-todo", cat({"u  ", reference, "\n"}))) << reference;
  }
  EXPECT_TRUE(harmless("update-refs", ""));
}

TEST(GitState, SymbolicReferences) {
  EXPECT_EQ(symbolic_target("ref: refs/heads/a\n"), "refs/heads/a");
  EXPECT_EQ(symbolic_target("ref:\t commondir \n\n"), "commondir");
  EXPECT_EQ(symbolic_target("ref:"), "");
  EXPECT_EQ(symbolic_target("1234\n"), std::nullopt);
  EXPECT_EQ(symbolic_target(" ref: a"), std::nullopt);
  EXPECT_EQ(symbolic_target(std::string_view("ref: commondir\0 x\n", 18)), "commondir");
  EXPECT_EQ(symbolic_target("ref: \vrefs/x\f\n"), "\vrefs/x\f") << "no blanks for git";
  for (const char* name : {"", "refs/heads/a", "refs/heads/a/b.c", "refs/worktree/x", "FETCH_HEAD"}) {
    EXPECT_TRUE(is_reference_name(name)) << name;
  }
  for (const char* name : {"commondir",
                           "refs/heads/../../commondir",
                           "refs/heads/a b/../../../hooks/x",
                           "TAG_EDITMSG",
                           "EDIT_DESCRIPTION",
                           "..",
                           "hooks/x",
                           "a b",
                           "use: x",
                           "a~1",
                           "a\nb",
                           "A:MSG",
                           "a b/x",
                           "modules/a b/commondir",
                           "\vrefs/x",
                           "refs/heads/a.lock",
                           "refs/.a",
                           "refs//a",
                           "refs/a/",
                           "refs/a@{1}",
                           "refs/a.",
                           "HEAD.lock",
                           "worktrees/w/HEAD",
                           "refs/heads/a\x7f"}) {
    EXPECT_FALSE(is_reference_name(name)) << name;
  }
}

TEST(GitState, LabelsToDelete) {
  EXPECT_TRUE(harmless("refs-to-delete", "refs/rewritten/onto\nrefs/rewritten/a-b\n"));
  EXPECT_TRUE(harmless("refs-to-delete", ""));
  for (const char* text : {"HEAD\n", "refs/heads/main\n", "refs/rewritten/../heads/main\n", "refs/rewritten/a\nHEAD"}) {
    EXPECT_FALSE(harmless("refs-to-delete", text)) << text;
  }
}

TEST(GitState, CommandsOfSteps) {
  EXPECT_EQ(commands_of_todo("pick 1 a\nexec make\n# exec x\n\tx y\n"),
            (std::vector<std::string>{"exec make", "\tx y"}));
  EXPECT_TRUE(commands_of_todo("").empty());
}

TEST(GitState, StrategiesAreGitsOwn) {
  EXPECT_TRUE(harmless("strategy", "ort\n"));
  EXPECT_FALSE(harmless("strategy", "x/../../evil\n"));
  EXPECT_FALSE(harmless("strategy", "ort\nx"));
  EXPECT_TRUE(harmless("opts", "[options]\n\tstrategy = recursive\n\tsignoff = true\n"));
  EXPECT_FALSE(harmless("opts", "[options]\n\tstrategy = evil\n"));
  EXPECT_FALSE(harmless("opts", "[include]\n\tpath = evil\n"));
}

TEST(GitState, OptionsOfPatches) {
  EXPECT_TRUE(harmless("apply-opt", ""));
  EXPECT_TRUE(harmless("apply-opt", " '--whitespace=fix' '-C1' '-p0' '--directory=a b' '--reject'\n"));
  for (const char* text : {"'--build-fake-ancestor=x'", "'--b' 'x'", "--reject", "'--rejec", "'-C1'--b", "'-p../x'",
                           "'--reject' '--stat'", "'--directory=a'\\'' '--b=x'", "'x'", "''"}) {
    EXPECT_FALSE(harmless("apply-opt", text)) << text;
  }
}

TEST(GitState, OptionsOfStrategies) {
  for (const char* text : {"", "\n", " --ours\n", "\"ours\" \"subtree=a b\" \"--find-renames=50%\"\n",
                           " --diff-algorithm=patience --theirs\n"}) {
    EXPECT_TRUE(harmless("strategy_opts", text)) << text;
  }
  for (const char* text : {" --index-output=/x", "\"index-output=/x\"", " --ours\\ --index-output=x", "'--ours'",
                           "--ours\"", "\"ours", "\"ours\"--index-output=x", "x", "--", "--ours=x", "--o\"\"urs"}) {
    EXPECT_FALSE(harmless("strategy_opts", text)) << text;
  }
  EXPECT_TRUE(harmless("opts", "[options]\n\tstrategy = resolve\n\tstrategy-option = ours\n"));
  EXPECT_FALSE(harmless("opts", "[options]\n\tstrategy-option = ours\n\tstrategy-option = index-output=/x\n"));
}

TEST(GitState, KeysOfSignatures) {
  for (const char* text : {"", "\n", "-S\n", "-SA1B2\n"}) EXPECT_TRUE(harmless("gpg_sign_opt", text)) << text;
  for (const char* text : {"--directory=x", " -S", "x"}) EXPECT_FALSE(harmless("gpg_sign_opt", text)) << text;
}

TEST(GitState, Bisections) {
  for (const char* text : {"", "\n", " 'a b' 'c'\n", "'--a'", "'a'\\''b'", " 'wow'\\!''\n"}) {
    EXPECT_TRUE(harmless("BISECT_NAMES", text)) << text;
  }
  for (const char* text : {"'*'", " 'a' '[x'", "a", "$(x)", "'a'b", "'a'; x", "'a", "'a'\\'", "'a'\\x'b'", "\"a\""}) {
    EXPECT_FALSE(harmless("BISECT_NAMES", text)) << text;
  }
  EXPECT_TRUE(harmless("BISECT_START", "main\n"));
  EXPECT_FALSE(harmless("BISECT_START", "-f\n"));
}

TEST(GitState, NamesWithRecordedConflicts) {
  const std::string hash(40, 'a');
  const std::string end(1, '\0');
  std::string text = hash + "\ta/b" + end + hash + ".1\t../c\td" + end + hash + end;
  text += hash + std::string(24, 'b') + "\te";
  // git reads the number with strtol(3), which skips a tab before it.
  text += end + hash + ".\t1\t../x" + end + "89\tx";
  const std::vector<std::string_view> names = resolved_names(text);
  EXPECT_EQ(names, (std::vector<std::string_view>{"a/b", "../c\td", "", "e", "", ""}));
  EXPECT_TRUE(resolved_names("").empty());
}

}  // namespace
}  // namespace hutch::plan
