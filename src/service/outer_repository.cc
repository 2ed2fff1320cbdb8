// Follows ".git" as git does (discover_git_directory() of its setup.c).
#include "service/outer_repository.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "host/paths.h"
#include "plan/git_files.h"
#include "policy/git_obeyed.h"
#include "service/explain.h"
#include "sys/files.h"
#include "sys/tree.h"

namespace hutch::service {

namespace {

constexpr std::string_view kGitDirectory = "gitdir: ";
constexpr std::string_view kGitModules = "/.git/modules/";
constexpr std::size_t kPointerBytesMax = 4096;  // a path, and what stands before it

std::string above(const std::string& path) { return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1)); }

std::string below(const std::string& directory, std::string_view name) {
  return directory == "/" ? cat({"/", name}) : cat({directory, "/", name});
}

// The canonical path that the file contains; empty if it contains none.
std::string target_of(const std::string& file, std::string_view prefix) {
  const auto text = sys::regular_file_text(file, kPointerBytesMax);
  if (!text || !text->starts_with(prefix)) return {};
  std::string_view path = std::string_view(*text).substr(prefix.size());
  while (path.ends_with('\n') || path.ends_with('\r')) path.remove_suffix(1);
  const auto absolute = policy::obeyed_path(path, {}, above(file));
  const auto found = absolute ? host::canonical_path(*absolute) : Result<host::CanonicalPath>(host::CanonicalPath());
  return found ? found->path : std::string();
}

bool is_git_repository(const std::string& directory) {
  plan::GitParts parts;
  for (const std::string_view name : {"HEAD", "objects", "refs"}) {
    if (sys::exists(below(directory, name))) parts = plan::with_part(parts, name);
  }
  return plan::is_git_directory(parts);
}

std::optional<OuterRepository> by_file(const std::string& work_tree) {
  using enum OuterRepository::Kind;
  const std::string link = below(work_tree, ".git");
  const std::string git = target_of(link, kGitDirectory);
  if (git.empty()) return std::nullopt;
  const std::string common = target_of(below(git, "commondir"), {});
  if (!common.empty()) {
    const bool knows_it = target_of(below(git, "gitdir"), {}) == link && above(git) == below(common, "worktrees");
    if (!knows_it || !is_git_repository(common)) return std::nullopt;
    return OuterRepository{kLinkedWorktree, work_tree, common};
  }
  const std::size_t modules = git.find(kGitModules);
  const bool knows_it = modules != std::string::npos && is_within(work_tree, git.substr(0, modules));
  if (!knows_it || !is_git_repository(git)) return std::nullopt;
  return OuterRepository{kSubmodule, work_tree, git};
}

}  // namespace

std::optional<OuterRepository> outer_repository(const std::string& directory) {
  for (std::string at = directory;; at = above(at)) {
    const std::string git = below(at, ".git");
    const auto found = host::canonical_path(git);
    if (!found) return std::nullopt;
    if (found->type == plan::FileType::kFile) return by_file(at);
    if (found->type == plan::FileType::kDirectory && found->path == git && is_git_repository(git)) {
      if (at == directory) return std::nullopt;
      return OuterRepository{OuterRepository::Kind::kPart, at, git};
    }
    if (at == "/") return std::nullopt;
  }
}

std::optional<sandbox::Refusal> missing_repository(const Prepared& prepared, const plan::HostFacts& facts) {
  const auto repository = outer_repository(facts.cwd);
  if (!repository) return std::nullopt;
  const auto verdict = judge_path(prepared, facts, repository->git, policy::Access::kWrite);
  if (!verdict || verdict->allowed) return std::nullopt;
  const std::string git = printable(repository->git);
  if (repository->kind != OuterRepository::Kind::kPart) {
    return sandbox::Refusal{.what = cat({"git finds no repository here: it is ", git, ", outside of the sandbox; ",
                                         "--allow-write ", git, " lets git work"}),
                            .rule = verdict->rule};
  }
  const std::string work_tree = printable(repository->work_tree);
  const std::string part = printable(facts.cwd.substr(below(repository->work_tree, "").size()));
  return sandbox::Refusal{.what = cat({"git finds no repository here: this directory is a part of ", work_tree,
                                       ", outside of the sandbox; start hutch there, with --cwd ", part}),
                          .rule = verdict->rule};
}

}  // namespace hutch::service
