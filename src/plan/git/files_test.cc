// Which links to repositories are harmless.
#include "plan/git/files.h"

#include <gtest/gtest.h>

#include <string>

namespace hutch::plan {
namespace {

bool leads_home(std::string_view path, const std::string& text) {
  return is_harmless_text(JudgedFile::kGitLink, path, text, "/p");
}

TEST(GitFiles, ALinkIntoTheRepositorysOwnDirectoryIsHarmless) {
  EXPECT_TRUE(leads_home("/p/sub/.git", "gitdir: ../.git/modules/sub\n"));
  EXPECT_TRUE(leads_home("/p/a/b/.git", "gitdir: ../../.git/modules/a/b\n"));
  EXPECT_TRUE(leads_home("/p/wt/.git", "gitdir: /p/.git/worktrees/wt\n"));
  EXPECT_TRUE(leads_home("/p/docs/refs/.git", "gitdir: ../../.git/modules/docs/refs\n"));
  EXPECT_TRUE(leads_home("/p/logs/a/.git", "gitdir: ../../.git/modules/logs/a\n"));
  EXPECT_TRUE(leads_home("/p/sub/wt/.git", "gitdir: /p/.git/modules/sub/worktrees/wt"));
}

TEST(GitFiles, ALinkElsewhereIsNot) {
  for (const char* text :
       {"gitdir: ../evil\n", "gitdir: e", "gitdir: /p/.git\n", "gitdir: ../.git/modules\n", "gitdir: ../.git/evil\n",
        "gitdir: ../.git/modules/../../evil\n", "gitdir: /tmp/.git/modules/x", "gitdir: x/../.git/modules/x",
        "gitdir: ../.git/worktrees/a/b", "gitdir: \n", "gitdir:", "", "gitdir: ../../.git/modules/sub\n",
        "gitdir: ../.git/modules/a/refs/b", "gitdir: ../.git/modules/a/b/objects/c/worktrees/w",
        "gitdir: ../.git/modules/a/.git/b", "gitdir: ../.git/modules/x\ny", "GITDIR: ../.git/modules/x"}) {
    EXPECT_FALSE(leads_home("/p/sub/.git", text)) << text;
  }
  EXPECT_FALSE(leads_home("/p/sub/.git", std::string("gitdir: ../evil\0/.git/modules/x", 31)));
  EXPECT_FALSE(leads_home("/p/sub/.git", "gitdir: ../.git/modules/" + std::string(kJudgedBytesMax, 'x')));
}

TEST(GitFiles, WhichFilesAreJudged) {
  EXPECT_EQ(judged_file("/p/.git"), JudgedFile::kGitLink);
  EXPECT_EQ(judged_file("/p/.git/worktrees/w/commondir"), JudgedFile::kCommonDirectory);
  EXPECT_EQ(judged_file("/p/.git/modules/a/b/worktrees/w/commondir"), JudgedFile::kCommonDirectory);
  EXPECT_EQ(judged_file("/p/.git/worktrees/w/config.worktree"), JudgedFile::kWorktreeConfig);
  EXPECT_EQ(judged_file("/p/.hg/hgrc"), JudgedFile::kMercurialConfig);
  EXPECT_EQ(judged_file("/p/.sl/config"), JudgedFile::kMercurialConfig);
  EXPECT_EQ(judged_file("/p/.jj/repo"), JudgedFile::kJujutsuRepository);
  for (const char* path : {"/p/.git/commondir", "/p/.git/config", "/p/.git/config.worktree", "/p/hgrc", "/p/.git/x",
                           "/p/git", "/p/.git/worktrees/a/b/commondir"}) {
    EXPECT_EQ(judged_file(path), JudgedFile::kNone) << path;
  }
}

TEST(GitFiles, OtherTexts) {
  using enum JudgedFile;
  EXPECT_TRUE(is_harmless_text(kCommonDirectory, "/p/.git/worktrees/w/commondir", "../..\n", "/p"));
  EXPECT_FALSE(is_harmless_text(kCommonDirectory, "/p/.git/worktrees/w/commondir", "../../../evil\n", "/p"));
  EXPECT_TRUE(is_harmless_text(kMercurialConfig, "/p/.hg/hgrc", "# hint\n[paths]\ndefault = /src/a\n", "/p"));
  EXPECT_FALSE(is_harmless_text(kMercurialConfig, "/p/.hg/hgrc", "[hooks]\nupdate = x\n", "/p"));
  EXPECT_FALSE(is_harmless_text(kMercurialConfig, "/p/.hg/hgrc", "[paths]\ndefault = x\n  [hooks]\n", "/p"));
  EXPECT_FALSE(is_harmless_text(kMercurialConfig, "/p/.hg/hgrc", "[paths]\n%include x\n", "/p"));
  EXPECT_TRUE(is_harmless_text(kWorktreeConfig, "/p/.git/worktrees/w/config.worktree", "[core]\nbare = false\n", "/p"));
  for (const char* text : {"[remote \"origin\"]\npushurl = https://evil.example/e\n", "[branch \"m\"]\nremote = up\n",
                           " [Remote \"origin\"]\nurl = /p/e\n", "[push]\ndefault = matching\n",
                           "[core]\nbare = false\n\t[remote \"o\"]\npush = +refs/heads/*:refs/heads/*\n"}) {
    EXPECT_FALSE(is_harmless_text(kWorktreeConfig, "/p/.git/worktrees/w/config.worktree", text, "/p")) << text;
  }
}

TEST(GitFiles, LinksThroughWhichGitWouldWrite) {
  for (const char* path : {"/p/.git/COMMIT_EDITMSG", "/p/.git/logs/HEAD", "/p/.git/worktrees/w/FETCH_HEAD",
                           "/p/.git/modules/sub/logs", "/p/.git/rr-cache", "/p/.git/objects/info/commit-graph"}) {
    EXPECT_TRUE(is_link_for_git(path, "../x")) << path;
  }
  EXPECT_FALSE(is_link_for_git("/p/.git/tAbCdE", "testing"));
  EXPECT_TRUE(is_probe_of_git("/p/.git/modules/sub/tAbCdE", "testing"));
  EXPECT_FALSE(is_probe_of_git("/p/tAbCdE", "testing"));
  EXPECT_FALSE(is_probe_of_git("/p/.git/tAbCdE", "testing/x"));
  for (const char* path : {"/p/x", "/p/.gitignore", "/p/.git", "/p/git/x"}) {
    EXPECT_FALSE(is_link_for_git(path, "../x")) << path;
  }
}

TEST(GitFiles, MovesOfLinkedWorktrees) {
  EXPECT_TRUE(takes_worktrees_away("/p/.git/worktrees/w", "/p/src"));
  EXPECT_TRUE(takes_worktrees_away("/p/.git/worktrees", "/p/w"));
  EXPECT_TRUE(takes_worktrees_away("/p/.git/modules", "/p/m"));
  EXPECT_TRUE(takes_worktrees_away("/p/.git/modules/a", "/p/m"));
  EXPECT_TRUE(takes_worktrees_away("/p/.git/modules/a/worktrees/w", "/p/.git/modules/b"));
  EXPECT_FALSE(takes_worktrees_away("/p/.git/worktrees/w", "/p/.git/worktrees/v"));
  EXPECT_FALSE(takes_worktrees_away("/p/.git/modules/a", "/p/.git/modules/b"));
  EXPECT_FALSE(takes_worktrees_away("/p/worktrees/w", "/p/src"));
  EXPECT_FALSE(takes_worktrees_away("/p/a", "/p/b"));
}

TEST(GitFiles, WhatGitTakesForARepository) {
  GitParts parts;
  for (const char* name : {"HEAD", "objects"}) parts = with_part(parts, name);
  EXPECT_FALSE(is_git_directory(parts));
  EXPECT_TRUE(is_git_directory(with_part(parts, "refs")));
  EXPECT_TRUE(is_git_directory(with_part(parts, "commondir")));
  EXPECT_FALSE(is_git_directory(with_part(GitParts(), "commondir")));
}

TEST(GitFiles, FilesThatGitReads) {
  for (const char* path : {"/p/.git/packed-refs", "/p/.git/refs/heads/x", "/p/.gitignore", "/p/a/.gitattributes"}) {
    EXPECT_TRUE(is_read_by_git(path)) << path;
  }
  for (const char* path : {"/p/.git", "/p/x.gitignore", "/p/pipe", "/p/.github/x"}) {
    EXPECT_FALSE(is_read_by_git(path)) << path;
  }
}

TEST(GitFiles, NamesThatGitKnows) {
  for (const char* path : {"/p/HEAD", "HEAD", "refs/", "/p/x/config", "config.worktree", "commondir", "/p/.git",
                           ".git//", "/p/.git/index.lock", ".git/x/y", "/p/hooks", "/p/hooks/post-commit", "hooks//x",
                           "./hooks/x", "/p/.git/modules", "worktrees", "/p/gitdir"}) {
    EXPECT_TRUE(is_known_to_git(path)) << path;
  }
  for (const char* path : {"", "/", "x", "/p/HEAD/x", "/p/config/a", "modules/a.c", "/p/hooks/a/b", "/p/.github/x",
                           "x.git/y", "/p/head", "/p/myhooks/x"}) {
    EXPECT_FALSE(is_known_to_git(path)) << path;
  }
}

TEST(GitFiles, TheMarkOfALink) {
  for (const char* text :
       {"gitdir: /p/.git/worktrees/w", "gitdir: /p/.git/worktrees/w\n", "gitdir: /p/.git/worktrees/w\r\n"}) {
    EXPECT_FALSE(is_marked_git_link(text)) << text;
    EXPECT_EQ(marked_git_link(text), "gitdir: /p/.git/worktrees/w\n\n");
  }
  EXPECT_TRUE(is_marked_git_link(marked_git_link("gitdir: x")));
  EXPECT_TRUE(
      is_harmless_text(JudgedFile::kGitLink, "/p/a/.git", marked_git_link("gitdir: /p/.git/worktrees/w"), "/p"));
}

TEST(GitFiles, WhereAChangeIsOneThatIsChecked) {
  EXPECT_EQ(checked_git_directory("/p/.git"), "/p/.git");
  EXPECT_EQ(checked_git_directory("/p/.git/HEAD"), "/p/.git");
  EXPECT_EQ(checked_git_directory("/p/.git/modules/m/rebase-merge/git-rebase-todo"), "/p/.git/modules/m");
  EXPECT_EQ(checked_git_directory("/p/.git/modules/a/b/rebase-merge"), "/p/.git/modules/a/b");
  EXPECT_EQ(checked_git_directory("/p/.git/modules/a/refs/b/index"), "/p/.git/modules/a/refs/b");
  EXPECT_EQ(checked_git_directory("/p/.git/modules/a/refs/remotes/origin/HEAD"), "/p/.git");
  EXPECT_EQ(checked_git_directory("/p/.git/modules/a/logs/HEAD"), "/p/.git");
  EXPECT_EQ(checked_git_directory("/p/.git/modules/a/objects/pack/x"), "/p/.git");
  EXPECT_EQ(checked_git_directory("/p/.git/modules/sequencer"), "/p/.git/modules");
  EXPECT_EQ(checked_git_directory("/p/.git/worktrees/w/index"), "/p/.git/worktrees/w");
  EXPECT_EQ(checked_git_directory("/p/.git/s/.git/index"), "/p/.git/s/.git");
  EXPECT_EQ(checked_git_directory("/p/store/worktrees/w/rebase-merge"), "/p/store/worktrees/w");
  EXPECT_EQ(checked_git_directory("/p/store/worktrees/w/sequencer/todo"), "/p/store/worktrees/w");
  EXPECT_EQ(checked_git_directory("/p/store/index"), "/p/store");
  EXPECT_EQ(checked_git_directory("/p/x.git/HEAD"), "/p/x.git") << "it may become one by that";
  EXPECT_EQ(checked_git_directory("/p/store/MERGE_RR"), "/p/store");
  for (const char* other : {"/p/x", "/p/.gitignore", "/p/x.git/config", "/p/index.html", "/p/a.git", "/p/rebase"}) {
    EXPECT_EQ(checked_git_directory(other), "") << other;
  }
}

TEST(GitFiles, OperationsThatAChangeHasToDoWith) {
  struct Case {
    const char* path;
    const char* operation;
  };
  for (const auto& [path, operation] : {Case{"/p/.git/rebase-merge/git-rebase-todo", "/p/.git/rebase-merge"},
                                        {"/p/.git/rebase-merge", "/p/.git/rebase-merge"},
                                        {"/p/.git/rebase-apply/0001.lock", "/p/.git/rebase-apply"},
                                        {"/p/bare/sequencer/opts", "/p/bare/sequencer"},
                                        {"/p/.git/worktrees/w/gitdir", "/p/.git/worktrees/w/gitdir"},
                                        {"/p/.git/worktrees/w/gitdir.lock", "/p/.git/worktrees/w/gitdir"},
                                        {"/p/.git/worktrees/w/rebase-merge/x", "/p/.git/worktrees/w/rebase-merge"},
                                        {"/p/.git/MERGE_RR.lock", "/p/.git/MERGE_RR"},
                                        {"/p/.git/BISECT_NAMES", "/p/.git/BISECT_NAMES"},
                                        {"/p/bare/BISECT_START", "/p/bare/BISECT_START"},
                                        {"/p/.git", "/p/.git"},
                                        {"/p/.git/HEAD", ""},
                                        {"/p/.git/index.lock", ""},
                                        {"/p/.git/worktrees/w/HEAD", ""},
                                        {"/p/src/main.c", ""}}) {
    EXPECT_EQ(checked_git_operation(path), operation) << path;
  }
}

TEST(GitFiles, AWorkspaceOfJujutsu) {
  const auto is_harmless = [](std::string_view text) {
    return is_harmless_text(JudgedFile::kJujutsuRepository, "/p/w/.jj/repo", text, "/p");
  };
  EXPECT_TRUE(is_harmless("/p/.jj/repo"));
  EXPECT_TRUE(is_harmless("../../.jj/repo"));
  for (const char* text : {"../evil", "/p/x.jj/repo", "", "/p/.jj/repo\n"}) EXPECT_FALSE(is_harmless(text)) << text;
}

}  // namespace
}  // namespace hutch::plan
