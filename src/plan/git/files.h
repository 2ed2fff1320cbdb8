// Names by which git, Mercurial and Sapling find a repository and its settings.
#pragma once

#include <string>
#include <string_view>

namespace hutch::plan {

// A file that a sandbox may write if its content leads nowhere else: the supervisor reads it before anybody else can.
enum class JudgedFile {
  kNone,
  kGitLink,          // ".git" as a file (gitrepository-layout(5)): where the repository is
  kCommonDirectory,  // commondir of a linked worktree
  kWorktreeConfig,   // config.worktree, as git-worktree(1) copies it
  kMercurialConfig,  // .hg/hgrc, .sl/config
  kJujutsuRepository,  // .jj/repo as a file: where the repository of a workspace is
  // "config" of a repository that is the sandbox's: only the supervisor knows of which, judged_file() does not say so.
  kGitConfig,
};
JudgedFile judged_file(std::string_view path);

// Whether the directory that moves from `from` to `to` may be, or contain, the directory of a linked worktree. From
// `to`, its commondir would lead to another repository. Renaming a ".git" is not covered here.
bool takes_worktrees_away(std::string_view from, std::string_view to);

// The directory that git may take for a repository's, or for a linked worktree's in one, if what hutch checks there
// after a command can change when `path` is made: the directory by its name ".git", any other one by the name of a part
// of a repository, or of an operation of git's. The innermost one counts below ".git/modules" and ".git/worktrees".
// Empty if there is none.
std::string_view checked_git_directory(std::string_view path);

// The operation of git's that `path` belongs to, as hutch looks for it after a command: the directory of an operation,
// the file of one that has no directory, or the file that names a worktree. `path` can be a part of it, or its lock. If
// `path` is the directory of a repository itself, the result is that directory. Empty: `path` belongs to none.
std::string_view checked_git_operation(std::string_view path);

// Whether the symbolic link at `path` with the target `text` is one that git-init(1) makes to find out whether it can.
bool is_probe_of_git(std::string_view path, std::string_view text);

// Whether the symbolic link at `path` with the target `text` would lead git out of a repository's own directory: git
// writes COMMIT_EDITMSG, FETCH_HEAD, logs, commit graphs and others where a link leads.
bool is_link_for_git(std::string_view path, std::string_view text);

// Whether git opens the file at `path` and reads it to its end: a pipe or a socket there would stop it or make it fail.
bool is_read_by_git(std::string_view path);

inline constexpr std::size_t kJudgedBytesMax = 65536;

// The text of a ".git" file, or of commondir, as hutch writes it for a process of a sandbox. git writes one line end,
// and reads over any number of them (read_gitfile_gently() and get_common_dir_noenv() of its setup.c). The mark stays
// with the file when somebody moves or copies it, and tells hutch later that no user made the file.
std::string marked_git_link(std::string_view text);
bool is_marked_git_link(std::string_view text);

// Whether `text` may be the content of the file at `path`. `root` is the writable directory that contains the file.
bool is_harmless_text(JudgedFile kind, std::string_view path, std::string_view text, std::string_view root);

// Whether the path is "config" or "config.worktree" of a ".git" or of a submodule's repository in one.
bool is_repository_config(std::string_view path);

// A directory of a repository in which git itself has any number of directories. A search does not look into it, and no
// ".git" file of a sandbox leads below it.
bool is_full_of_git(std::string_view name);

// Whether the name is that of an object, in hexadecimal: no file of a repository's own directory has one.
bool is_object_name(std::string_view name);

// The meaning of a name to git, if its directory is a repository.
enum class GitName { kOther, kPart, kCommonDirectory, kConfig, kHooks };
GitName git_name(std::string_view name);

// Whether git could find a repository, its settings or its programs by a name at `path`: what one process makes there
// can have a meaning together with what another one makes. Also for a path as a caller gave it.
bool is_known_to_git(std::string_view path);
// The rule that hutch reports where the turn for such a name did not come.
inline constexpr std::string_view kLateTurn = "built in turns";

// Whether the file may lie in the directory "hooks" of a repository that a sandbox made.
bool is_sample_hook(std::string_view name);

// The names by which git recognises a repository (is_git_directory() of its setup.c); other names that git reads there
// count as well.
struct GitParts {
  bool head = false;
  bool objects = false;
  bool refs = false;
  bool common_directory = false;
};
bool is_git_directory(const GitParts& parts);
GitParts with_part(GitParts parts, std::string_view name);

}  // namespace hutch::plan
