// Names by which git, Mercurial and Sapling find a repository and its settings.
#pragma once

#include <string>
#include <string_view>

namespace hutch::plan {

// A file that a sandbox may write with a content that leads nowhere else: the supervisor sees it before anybody reads
// it.
enum class JudgedFile {
  kNone,
  kGitLink,          // ".git" as a file (gitrepository-layout(5)): where the repository is
  kCommonDirectory,  // commondir of a linked worktree
  kWorktreeConfig,   // config.worktree, as git-worktree(1) copies it
  kMercurialConfig,  // .hg/hgrc, .sl/config
};
JudgedFile judged_file(std::string_view path);

// Whether a directory moved from `from` to `to` may be, or hold, a linked worktree's, whose commondir would lead from
// there to another repository. A ".git" that gets another name is none of them.
bool takes_worktrees_away(std::string_view from, std::string_view to);

// Whether the symbolic link at `path`, which says `text`, would lead git out of a repository's own directory: it writes
// COMMIT_EDITMSG, FETCH_HEAD, logs, commit graphs and others where a link leads. git-init(1) makes one to
// "testing", to see whether links can be made.
bool is_link_for_git(std::string_view path, std::string_view text);

inline constexpr std::size_t kJudgedBytesMax = 65536;

// Whether `text` may be the content of the file at `path`. `root`: the writable directory that it lies in.
bool is_harmless_text(JudgedFile kind, std::string_view path, std::string_view text, std::string_view root);

// What a name in a directory means to git, should that directory be a repository.
enum class GitName { kOther, kPart, kCommonDirectory, kConfig, kHooks };
GitName git_name(std::string_view name);

// Whether the file may lie in the directory "hooks" of a repository that a sandbox made.
bool is_sample_hook(std::string_view name);

// What git looks for to tell a repository (is_git_directory() of its setup.c); what it looks at besides counts as well.
struct GitParts {
  bool head = false;
  bool objects = false;
  bool refs = false;
  bool common_directory = false;
};
bool is_git_directory(const GitParts& parts);
GitParts with_part(GitParts parts, std::string_view name);

}  // namespace hutch::plan
