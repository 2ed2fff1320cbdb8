// What has changed between two listings of a directory.
#include "sandbox/tree/changes.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/text.h"

namespace hutch::sandbox {

namespace {

using sys::EntryKind;

constexpr std::array<std::string_view, 5> kKeptByPrograms = {"node_modules", "__pycache__", ".venv", ".cache", ".npm"};

bool is_one_change(std::string_view parent, std::string_view name) {
  if (parent == ".git") return name == "objects" || name == "logs";
  return std::ranges::find(kKeptByPrograms, name) != kKeptByPrograms.end();
}

bool is_directory(const ListedFile& file) { return file.kind == EntryKind::kDirectory; }

bool is_same(const ListedFile& a, const ListedFile& b) {
  return a.kind == b.kind && a.inode == b.inode && a.size == b.size && a.modified_ns == b.modified_ns &&
         a.changed_ns == b.changed_ns;
}

std::span<const ListedFile> below(const TreeListing& tree, const ListedFile& directory) {
  return std::span(tree.files).subspan(directory.first, directory.count);
}

class Comparison {
 public:
  Comparison(const TreeListing& before, const TreeListing& after, const ChangesLimits& limits, TreeChanges& changes)
      : before_(before), after_(after), limits_(limits), changes_(changes) {
    for (const FileChange& change : changes.changes) bytes_ += change.path.size();
  }

  void compare(const ListedFile& old, const ListedFile& now, const std::string& path);

 private:
  void compare_both(const ListedFile& old, const ListedFile& now, const ListedFile& parent, const std::string& path);
  void tell_subtree(const TreeListing& tree, const ListedFile& file, const ListedFile& parent, const std::string& path,
                    Change change);
  static std::uint64_t files_below(const TreeListing& tree, const ListedFile& directory);
  void tell(const std::string& path, Change change, std::uint64_t files = 0);

  const TreeListing& before_;
  const TreeListing& after_;
  const ChangesLimits& limits_;
  TreeChanges& changes_;
  std::size_t bytes_ = 0;
};

// Both are directories. What is in one listing alone has come or gone only where the other has all names.
void Comparison::compare(const ListedFile& old, const ListedFile& now, const std::string& path) {
  if (!old.whole || !now.whole) changes_.truncated = true;
  const auto before = below(before_, old);
  const auto after = below(after_, now);
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < before.size() || j < after.size()) {
    const bool only_before = j == after.size() || (i < before.size() && before[i].name < after[j].name);
    const bool only_after = i == before.size() || (j < after.size() && after[j].name < before[i].name);
    if (only_before) {
      if (now.whole) tell_subtree(before_, before[i], old, path + before[i].name, Change::kDeleted);
      ++i;
    } else if (only_after) {
      if (old.whole) tell_subtree(after_, after[j], now, path + after[j].name, Change::kAdded);
      ++j;
    } else {
      compare_both(before[i], after[j], now, path + after[j].name);
      ++i;
      ++j;
    }
  }
}

void Comparison::compare_both(const ListedFile& old, const ListedFile& now, const ListedFile& parent,
                              const std::string& path) {
  if (!is_directory(old) || !is_directory(now)) {
    if (!is_same(old, now)) tell(path, Change::kModified);
    return;
  }
  if (!is_one_change(parent.name, now.name)) return compare(old, now, path + "/");
  TreeChanges inside;
  Comparison(before_, after_, {.changes_max = 0, .bytes_max = 0}, inside).compare(old, now, "");
  if (inside.total > 0) tell(path + "/", Change::kModified, inside.total);
}

void Comparison::tell_subtree(const TreeListing& tree, const ListedFile& file, const ListedFile& parent,
                              const std::string& path, Change change) {
  if (!is_directory(file)) return tell(path, change);
  if (!file.whole) changes_.truncated = true;
  if (is_one_change(parent.name, file.name)) return tell(path + "/", change, files_below(tree, file));
  if (file.count == 0) return tell(path + "/", change);
  for (const ListedFile& child : below(tree, file)) {
    tell_subtree(tree, child, file, cat({path, "/", child.name}), change);
  }
}

std::uint64_t Comparison::files_below(const TreeListing& tree, const ListedFile& directory) {
  std::uint64_t files = 0;
  for (const ListedFile& child : below(tree, directory)) files += is_directory(child) ? files_below(tree, child) : 1;
  return files;
}

void Comparison::tell(const std::string& path, Change change, std::uint64_t files) {
  ++changes_.total;
  bytes_ += path.size();
  if (changes_.changes.size() >= limits_.changes_max || bytes_ > limits_.bytes_max) {
    changes_.truncated = true;
    return;
  }
  changes_.changes.push_back({path, change, files});
}

}  // namespace

std::string_view name_of(Change change) {
  switch (change) {
    case Change::kAdded: return "added";
    case Change::kModified: return "modified";
    case Change::kDeleted: return "deleted";
  }
  return "modified";
}

void add_changes(const TreeListing& before, const TreeListing& after, std::string_view prefix,
                 const ChangesLimits& limits, TreeChanges& changes) {
  if (before.files.empty() || after.files.empty()) return;
  Comparison(before, after, limits, changes).compare(before.files.front(), after.files.front(), std::string(prefix));
}

}  // namespace hutch::sandbox
