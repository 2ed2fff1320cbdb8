// Finds ways out of a repository of git.
#include "service/git/links.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "plan/git/index.h"
#include "plan/git/state.h"
#include "service/git/work_tree.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"

namespace hutch::service {

namespace {

// Each reference can be a file, and another file is its log.
constexpr std::size_t kLinkEntriesMax = std::size_t{1} << 18;
constexpr int kLinkDepthMax = 32;

constexpr std::size_t kResolvedIndexBytesMax = std::size_t{64} << 20;

class LinkWalk {
 public:
  explicit LinkWalk(const std::vector<std::string>& repositories) : repositories_(repositories) {}

  void walk(int directory, const std::string& path, int depth) {
    const auto entries = sys::names_in(directory, path);
    const bool is_open = entries && depth < kLinkDepthMax;
    found_.is_complete = found_.is_complete && is_open;
    if (!is_open) return;
    for (const sys::TreeEntry& entry : *entries) {
      if (++entries_ > kLinkEntriesMax) found_.is_complete = false;
      if (entries_ > kLinkEntriesMax) return;
      look(directory, cat({path, "/", entry.name}), entry, depth);
    }
  }

  GitLinks found() && { return std::move(found_); }

 private:
  // git writes objects, in directories of two digits, under a temporary name first, and never again. git-annex(1) and
  // git-lfs(1) have many objects.
  bool is_of_objects(std::string_view path) const {
    static constexpr std::string_view kObjects = "/objects";
    for (const std::string_view more : {"/annex", "/lfs"}) {
      const bool is_one = path.ends_with(kObjects) && path.substr(0, path.size() - kObjects.size()).ends_with(more);
      if (is_one && is_repository(path.substr(0, path.size() - kObjects.size() - more.size()))) return true;
    }
    const std::size_t name = path.rfind('/');
    const std::string_view above = path.substr(0, name);
    const std::string_view digits = path.substr(name + 1);
    if (digits.size() != 2 || digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) return false;
    const bool is_one = is_repository(above) || is_repository(above.substr(0, above.size() - kObjects.size()));
    return above.ends_with(kObjects) && is_one;
  }

  bool is_repository(std::string_view path) const { return std::ranges::binary_search(repositories_, path); }

  void look(int directory, const std::string& path, const sys::TreeEntry& entry, int depth) {
    sys::EntryKind kind = entry.kind;
    if (kind == sys::EntryKind::kUnknown) {
      const auto status = sys::status_at(directory, entry.name);
      kind = status && *status ? (*status)->kind : kind;
    }
    if (kind == sys::EntryKind::kSymlink) {
      const auto version = sys::file_version(path);
      if (version) found_.versions.emplace(path, *version);
    } else if (kind == sys::EntryKind::kDirectory && !is_of_objects(path)) {
      const auto child = sys::open_listing_at(directory, entry.name);
      if (child) walk(child->get(), path, depth + 1);
      // A directory that cannot be opened may contain a link.
      if (!child) found_.is_complete = false;
    }
  }

  const std::vector<std::string>& repositories_;
  std::size_t entries_ = 0;
  GitLinks found_;
};

// `repositories` are sorted.
bool lies_in_one(const std::string& repository, const std::vector<std::string>& repositories) {
  std::string_view above = repository;
  while (above.size() > 1) {
    above = above.substr(0, above.rfind('/'));
    if (std::ranges::binary_search(repositories, above)) return true;
  }
  return false;
}

bool is_file_of(const UniqueFd& tree, const std::string& name) {
  const auto file = sys::open_beneath(tree.get(), name, sys::Beneath::kReadExact);
  return file || file.error().sys_errno == ENOENT;
}

// Removes from `names` the regular files of the index, which "git restore" would write as well.
void take_files_of_index(const std::string& index, plan::GitHash hash, std::set<std::string_view>& names) {
  auto reader = plan::GitIndexReader::open(index, hash);
  std::set<std::string_view> files;
  while (reader) {
    const auto entry = reader->next();
    if (!entry) return;
    if (!*entry) break;
    const auto name = names.find((*entry)->name);
    if (name != names.end() && plan::is_file_mode((*entry)->mode)) files.insert(*name);
  }
  for (const std::string_view file : files) names.erase(file);
}

}  // namespace

GitLinks git_links(const std::vector<std::string>& repositories) {
  LinkWalk walk(repositories);
  for (const std::string& repository : repositories) {
    // A submodule's repository lies in that of its superproject, and is searched with it.
    if (lies_in_one(repository, repositories)) continue;
    const auto directory = sys::open_listing(repository);
    if (directory) walk.walk(directory->get(), repository, 0);
  }
  return std::move(walk).found();
}

bool is_written_by_git(std::string_view path) {
  static constexpr std::string_view kNames =
      "ADD_EDIT.patch addp-hunk-edit.diff annex branches config config.worktree description gc.log gc.pid hooks index "
      "info lfs logs lost-found modules objects packed-refs rebase-apply rebase-merge rebased-patches refs reftable "
      "remotes rr-cache sequencer shallow svn worktrees";
  static const std::vector<std::string_view> names = split(kNames, ' ');
  const std::string_view name = path.substr(0, path.find('/'));
  const auto is_of_pseudo_reference = [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; };
  return std::ranges::all_of(name, is_of_pseudo_reference) || std::ranges::find(names, name) != names.end();
}

std::vector<std::string> resolutions_elsewhere(const std::string& directory) {
  const std::string file = cat({directory, "/MERGE_RR"});
  const auto text = sys::regular_file_text(file, plan::kGitStateBytesMax);
  if (!text && text.error().sys_errno == ENOENT) return {};
  if (!text) return {file};
  const std::vector<std::string_view> names = plan::resolved_names(*text);
  if (names.empty()) return {};
  const bool is_linked = git_common_directory(directory) != directory;
  const auto tree = sys::open(is_linked ? std::string() : git_work_tree(directory), sys::Open::kPath);
  const auto index = sys::regular_file_text(cat({directory, "/index"}), kResolvedIndexBytesMax);
  if (!tree || !index) return {file};
  std::set<std::string_view> others(names.begin(), names.end());
  take_files_of_index(*index, git_object_hash(directory), others);
  std::vector<std::string> found;
  for (const std::string_view name : names) {
    const bool is_file = plan::is_work_tree_name(name) && is_file_of(*tree, std::string(name));
    if (!is_file || others.contains(name)) found.push_back(name.empty() ? file : std::string(name));
  }
  return found;
}

}  // namespace hutch::service
