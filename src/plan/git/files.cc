// Judges names and texts by which git and other programs find a repository.
#include "plan/git/files.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "plan/git/config.h"
#include "policy/glob.h"

namespace hutch::plan {

namespace {

// The directory of a linked worktree: in a repository, and in the repository of a submodule.
constexpr std::string_view kWorktree = "/**/.git/worktrees/*";
constexpr std::string_view kModuleWorktree = "/**/.git/modules/**/worktrees/*";

std::string_view base_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }
std::string_view directory_of_file(std::string_view path) { return path.substr(0, path.rfind('/')); }

bool is_worktree_directory(std::string_view directory) {
  return policy::matches_path(kWorktree, directory) || policy::matches_path(kModuleWorktree, directory);
}

// git removes all line ends from the end (read_gitfile_gently() of its setup.c), and reads up to a zero byte.
std::string_view without_line_ends(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

bool is_plain_name(std::string_view part) { return !part.empty() && part != "." && part != ".."; }

// Leading ".." start at a directory with a canonical path. A ".." behind a name could follow a link, so it stays.
std::string absolute_target(std::string_view directory, std::string_view target) {
  if (target.starts_with('/')) return std::string(target);
  while (target.starts_with("../")) {
    target.remove_prefix(3);
    directory = directory.substr(0, directory.rfind('/'));
  }
  return cat({directory, "/", target});
}

constexpr std::array<std::string_view, 3> kOperations = {"rebase-merge", "rebase-apply", "sequencer"};

bool is_operation(std::string_view name) { return std::ranges::find(kOperations, name) != kOperations.end(); }

// Without the end of a lock's name.
std::string_view unlocked(std::string_view name) { return name.substr(0, name.find('.')); }

bool is_file_of_operation(std::string_view name) {
  return unlocked(name) == "MERGE_RR" || unlocked(name) == "gitdir" || name.starts_with("BISECT_");
}

// The directory of a repository in which the change of `path` is one that is checked.
std::string_view directory_of_state(std::string_view path) {
  static constexpr std::array<std::string_view, 5> kFiles = {"MERGE_RR", "gitdir", "index", "HEAD", "commondir"};
  const std::string_view directory = directory_of_file(path);
  const std::string_view name = base_of(path);
  if (is_operation(name) || is_file_of_operation(name) || std::ranges::find(kFiles, name) != kFiles.end())
    return directory;
  return is_operation(base_of(directory)) ? directory_of_file(directory) : std::string_view();
}

// "HEAD" is the name of references and logs too.
bool is_of_references(std::string_view directory) {
  return base_of(directory) == "logs" || directory.contains("/refs/");
}

// Names below ".git/modules" and ".git/worktrees" are protected, wherever that ".git" lies.
bool is_own_git_directory(std::string_view link, std::string_view text, std::string_view root) {
  static constexpr std::string_view kPrefix = "gitdir: ";
  if (!text.starts_with(kPrefix)) return false;
  const std::string_view target = without_line_ends(text.substr(kPrefix.size()));
  const bool printing = std::ranges::all_of(target, [](char c) { return static_cast<unsigned char>(c) >= ' '; });
  if (!printing || target.empty()) return false;
  const std::string path = absolute_target(directory_of_file(link), target);
  if (!path.starts_with('/') || !is_within(path, root)) return false;
  const auto parts = split(std::string_view(path).substr(1), '/');
  if (!std::ranges::all_of(parts, is_plain_name)) return false;
  const auto git = std::ranges::find(parts, ".git");
  if (git == parts.end() || std::ranges::distance(git, parts.end()) < 3) return false;
  // Other names would be protected in a ".git" inside of another ".git".
  if (std::find(git + 1, parts.end(), ".git") != parts.end()) return false;
  if (*(git + 1) != "modules") return is_worktree_directory(path);
  // No search looks below these in a repository, and the first name may be that of one.
  return std::none_of(git + 3 < parts.end() ? git + 3 : parts.end() - 1, parts.end() - 1, is_full_of_git);
}

bool is_own_common_directory(std::string_view text) { return without_line_ends(text) == "../.."; }

constexpr std::array<std::string_view, 6> kAroundWorktrees = {
    kWorktree,          kModuleWorktree,      "/**/.git/worktrees", "/**/.git/modules/**/worktrees",
    "/**/.git/modules", "/**/.git/modules/**"};

// hg-clone(1) writes only where the repository came from.
bool is_harmless_mercurial_config(std::string_view text) {
  std::string_view section;
  for (std::string_view line : split(text, '\n')) {
    const bool plain = std::ranges::all_of(line, [](char c) { return static_cast<unsigned char>(c) >= ' '; });
    if (!plain) return false;
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with('[')) {
      section = line;
      continue;
    }
    const bool names_path = section == "[paths]" && (line.starts_with("default =") || line.starts_with("default="));
    const std::string_view value = line.substr(line.find('=') + 1);
    // Such a value would begin options of ssh's command, or a scheme that runs a program.
    if (!names_path || value.contains(" -") || value.contains("://-") || value.contains("::")) return false;
  }
  return true;
}

// In a directory of this name a rule protects the configuration, wherever it lies.
bool is_jujutsu_repository(std::string_view text) {
  const bool printing = std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= ' '; });
  return printing && text.ends_with("/.jj/repo");
}

}  // namespace

JudgedFile judged_file(std::string_view path) {
  const std::string_view name = base_of(path);
  if (name == ".git") return JudgedFile::kGitLink;
  const std::string_view directory = directory_of_file(path);
  if (name == "commondir" && is_worktree_directory(directory)) return JudgedFile::kCommonDirectory;
  if (name == "config.worktree" && is_worktree_directory(directory)) return JudgedFile::kWorktreeConfig;
  if (name == "hgrc" && base_of(directory) == ".hg") return JudgedFile::kMercurialConfig;
  if (name == "config" && base_of(directory) == ".sl") return JudgedFile::kMercurialConfig;
  if (name == "repo" && base_of(directory) == ".jj") return JudgedFile::kJujutsuRepository;
  return JudgedFile::kNone;
}

bool takes_worktrees_away(std::string_view from, std::string_view to) {
  return std::ranges::any_of(kAroundWorktrees, [&](std::string_view pattern) {
    return policy::matches_path(pattern, from) && !policy::matches_path(pattern, to);
  });
}

std::string_view checked_git_directory(std::string_view path) {
  static constexpr std::string_view kGit = "/.git";
  const std::size_t in_git = path.rfind("/.git/");
  if (path.ends_with(kGit)) return path;
  const std::string_view directory = directory_of_state(path);
  if (in_git == std::string_view::npos) return directory;
  // The repositories of submodules, and what lies in one: nobody has to have found it.
  const std::string_view git = path.substr(0, in_git + kGit.size());
  const std::string_view inner = path.substr(git.size());
  const bool is_below = inner.starts_with("/modules/") || inner.starts_with("/worktrees/");
  const bool is_reference = base_of(path) == "HEAD" && is_of_references(directory);
  return is_below && directory.size() > git.size() && !is_reference ? directory : git;
}

std::string_view checked_git_operation(std::string_view path) {
  const std::string_view directory = checked_git_directory(path);
  if (directory.empty() || path.size() == directory.size()) return directory;
  const std::string_view rest = path.substr(directory.size() + 1);
  const std::string_view name = rest.substr(0, rest.find('/'));
  const auto with = [&](std::string_view part) { return path.substr(0, directory.size() + 1 + part.size()); };
  if (is_operation(name)) return with(name);
  return is_file_of_operation(name) ? with(unlocked(name)) : std::string_view();
}

bool is_probe_of_git(std::string_view path, std::string_view text) {
  return path.contains("/.git/") && text == "testing";
}

bool is_link_for_git(std::string_view path, std::string_view text) {
  return path.contains("/.git/") && !is_probe_of_git(path, text);
}

bool is_read_by_git(std::string_view path) {
  static constexpr std::array kInWorkTree = {"/.gitignore", "/.gitattributes", "/.gitmodules", "/.mailmap"};
  return path.contains("/.git/") ||
         std::ranges::any_of(kInWorkTree, [&](const char* name) { return path.ends_with(name); });
}

std::string marked_git_link(std::string_view text) { return cat({without_line_ends(text), "\n\n"}); }

bool is_marked_git_link(std::string_view text) { return text.ends_with("\n\n"); }

bool is_harmless_text(JudgedFile kind, std::string_view path, std::string_view text, std::string_view root) {
  if (text.size() > kJudgedBytesMax) return false;
  switch (kind) {
    case JudgedFile::kGitLink: return is_own_git_directory(path, text, root);
    case JudgedFile::kCommonDirectory: return is_own_common_directory(text);
    case JudgedFile::kWorktreeConfig: return is_harmless_worktree_config(text);
    case JudgedFile::kMercurialConfig: return is_harmless_mercurial_config(text);
    case JudgedFile::kGitConfig: return is_harmless_git_config(text, directory_of_file(path));
    case JudgedFile::kJujutsuRepository: return is_jujutsu_repository(text);
    case JudgedFile::kNone: break;
  }
  return false;
}

bool is_repository_config(std::string_view path) {
  const std::string_view directory = directory_of_file(path);
  const bool is_of_git = directory.ends_with("/.git") || directory.contains("/.git/modules/");
  return is_of_git && git_name(base_of(path)) == GitName::kConfig && judged_file(path) == JudgedFile::kNone;
}

bool is_full_of_git(std::string_view name) { return name == "objects" || name == "refs" || name == "logs"; }

bool is_object_name(std::string_view name) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  return (name.size() == 40 || name.size() == 64) && name.find_first_not_of(kDigits) == std::string_view::npos;
}

GitName git_name(std::string_view name) {
  if (name == "HEAD" || name == "objects" || name == "refs") return GitName::kPart;
  if (name == "commondir") return GitName::kCommonDirectory;
  if (name == "config" || name == "config.worktree") return GitName::kConfig;
  return name == "hooks" ? GitName::kHooks : GitName::kOther;
}

bool is_known_to_git(std::string_view path) {
  static constexpr std::array<std::string_view, 4> kOthers = {".git", "gitdir", "modules", "worktrees"};
  while (path.ends_with('/')) path.remove_suffix(1);
  const std::string_view name = base_of(path);
  if (git_name(name) != GitName::kOther || std::ranges::find(kOthers, name) != kOthers.end()) return true;
  if (!path.contains('/')) return false;
  std::string_view above = directory_of_file(path);
  while (above.ends_with('/')) above.remove_suffix(1);
  return base_of(above) == "hooks" || path.contains("/.git/") || path.starts_with(".git/");
}

// No hook of git's has such a name. rsync(1) makes ".NAME.sample.XXXXXX" first.
bool is_sample_hook(std::string_view name) { return name.contains(".sample"); }

bool is_git_directory(const GitParts& parts) {
  return parts.head && (parts.common_directory || (parts.objects && parts.refs));
}

GitParts with_part(GitParts parts, std::string_view name) {
  parts.head = parts.head || name == "HEAD";
  parts.objects = parts.objects || name == "objects";
  parts.refs = parts.refs || name == "refs";
  parts.common_directory = parts.common_directory || name == "commondir";
  return parts;
}

}  // namespace hutch::plan
