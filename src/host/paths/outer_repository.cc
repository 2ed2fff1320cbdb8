// Follows ".git" as git does (discover_git_directory() of its setup.c).
#include "host/paths/outer_repository.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "host/paths/paths.h"
#include "plan/git/files.h"
#include "policy/git/obeyed.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"

namespace hutch::host {

namespace {

constexpr std::string_view kGitDirectory = "gitdir: ";
constexpr std::string_view kGitModules = "/.git/modules/";
constexpr std::size_t kPointerBytesMax = 4096;  // a path, and what stands before it
constexpr std::size_t kModuleConfigBytesMax = 1 << 20;

std::string above(const std::string& path) { return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1)); }

std::string in_directory(const std::string& directory, std::string_view name) {
  return directory == "/" ? cat({"/", name}) : cat({directory, "/", name});
}

struct Target {
  std::string path;  // canonical; empty: none
  bool by_link = false;  // a symbolic link is on the way
};

// What `written`, which is relative to `directory`, leads to.
Target led_to(std::string_view written, const std::string& directory) {
  const auto absolute = policy::obeyed_path(written, {}, directory);
  if (!absolute) return {};
  const auto found = canonical_path(*absolute);
  return found ? Target{found->path, !sys::open_exact(*absolute)} : Target();
}

// What `text`, the content of `file`, leads to.
Target target_in(std::string_view text, const std::string& file) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  return led_to(text, above(file));
}

// Empty if the file contains no path.
Target target_of(const std::string& file) {
  const auto text = sys::regular_file_text(file, kPointerBytesMax);
  return text ? target_in(*text, file) : Target();
}

bool is_git_repository(const std::string& directory) {
  plan::GitParts parts;
  for (const std::string_view name : {"HEAD", "objects", "refs"}) {
    if (sys::exists(in_directory(directory, name))) parts = plan::with_part(parts, name);
  }
  return plan::is_git_directory(parts);
}

// Where the configuration of a submodule's repository says that its work tree is; git-submodule(1) always writes it.
Target module_work_tree(const std::string& git) {
  const auto text = sys::regular_file_text(in_directory(git, "config"), kModuleConfigBytesMax);
  if (!text) return {};
  Target found;
  for (const policy::GitEntry& entry : policy::git_entries(*text)) {
    if (entry.section == "core" && entry.subsection.empty() && entry.key == "worktree")
      found = led_to(entry.value, git);
  }
  return found;
}

std::optional<OuterRepository> by_file(const std::string& work_tree) {
  using enum OuterRepository::Kind;
  using enum OuterRepository::LinkedBy;
  const std::string link = in_directory(work_tree, ".git");
  const auto text = sys::regular_file_text(link, kPointerBytesMax);
  if (!text || !text->starts_with(kGitDirectory)) return std::nullopt;
  const std::string git = target_in(std::string_view(*text).substr(kGitDirectory.size()), link).path;
  if (git.empty()) return std::nullopt;
  const bool is_marked = plan::is_marked_git_link(*text);
  const auto linked_by = [&](const Target& back) {
    if (is_marked) return kSandbox;
    return back.by_link ? kSymbolicLink : kUser;
  };
  const std::string common = target_of(in_directory(git, "commondir")).path;
  if (!common.empty()) {
    const Target back = target_of(in_directory(git, "gitdir"));
    const bool knows_it = back.path == link && above(git) == in_directory(common, "worktrees");
    if (!knows_it || !is_git_repository(common)) return std::nullopt;
    return OuterRepository{kLinkedWorktree, work_tree, common, git, linked_by(back)};
  }
  const Target back = module_work_tree(git);
  const bool knows_it = git.contains(kGitModules) && back.path == work_tree;
  if (!knows_it || !is_git_repository(git)) return std::nullopt;
  return OuterRepository{kSubmodule, work_tree, git, {}, linked_by(back)};
}

}  // namespace

std::optional<OuterRepository> outer_repository(const std::string& directory) {
  for (std::string at = directory;; at = above(at)) {
    const std::string git = in_directory(at, ".git");
    const auto found = canonical_path(git);
    if (!found) return std::nullopt;
    if (found->type == plan::FileType::kFile) return by_file(at);
    if (found->type == plan::FileType::kDirectory && found->path == git && is_git_repository(git)) {
      if (at == directory) return std::nullopt;
      return OuterRepository{OuterRepository::Kind::kPart, at, git};
    }
    if (at == "/") return std::nullopt;
  }
}

}  // namespace hutch::host
