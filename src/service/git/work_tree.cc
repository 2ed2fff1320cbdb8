// Finds the work tree of a repository of git.
#include "service/git/work_tree.h"

#include <cstddef>
#include <string_view>

#include "base/text.h"
#include "policy/git/obeyed.h"
#include "sys/files/tree.h"

namespace hutch::service {

namespace {

constexpr std::size_t kGitConfigTextMax = 1 << 20;
constexpr std::size_t kGitLinkTextMax = 4096;
constexpr std::string_view kWorktrees = "/worktrees/";
constexpr std::string_view kGitName = "/.git";

std::string small_text(const std::string& file, std::size_t bytes_max) {
  auto text = sys::regular_file_text(file, bytes_max);
  return text ? std::move(*text) : std::string();
}

// git-submodule(1) writes a relative path, "../../../NAME".
std::string configured_work_tree(const std::string& directory) {
  for (const policy::GitEntry& entry : policy::git_entries(git_config_text(directory))) {
    if (entry.section != "core" || entry.key != "worktree") continue;
    return entry.value.starts_with('/') ? entry.value : cat({directory, "/", entry.value});
  }
  return {};
}

}  // namespace

std::string git_common_directory(const std::string& directory) {
  const std::size_t name = directory.rfind('/') + 1;
  const bool is_linked = std::string_view(directory).substr(0, name).ends_with(kWorktrees);
  return is_linked ? directory.substr(0, name - kWorktrees.size()) : directory;
}

std::string git_config_text(const std::string& directory) {
  return small_text(cat({git_common_directory(directory), "/config"}), kGitConfigTextMax);
}

plan::GitHash git_object_hash(const std::string& directory) {
  auto hash = plan::GitHash::kSha1;
  for (const policy::GitEntry& entry : policy::git_entries(git_config_text(directory))) {
    if (entry.section != "extensions" || entry.key != "objectformat") continue;
    hash = entry.value == "sha256" ? plan::GitHash::kSha256 : plan::GitHash::kSha1;
  }
  return hash;
}

std::string git_work_tree(const std::string& directory) {
  if (directory.ends_with(kGitName)) return directory.substr(0, directory.size() - kGitName.size());
  if (git_common_directory(directory) == directory) return configured_work_tree(directory);
  const std::string text = small_text(cat({directory, "/gitdir"}), kGitLinkTextMax);
  std::string_view link = text;
  while (link.ends_with('\n')) link.remove_suffix(1);
  const bool leads = link.starts_with('/') && link.ends_with(kGitName);
  return leads ? std::string(link.substr(0, link.size() - kGitName.size())) : std::string();
}

std::string path_after_move(const std::string& path, std::string_view from, std::string_view to) {
  return is_within(path, from) ? cat({to, std::string_view(path).substr(from.size())}) : path;
}

}  // namespace hutch::service
