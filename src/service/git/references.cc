// Reads the commits that a repository names.
#include "service/git/references.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "sys/files/changed.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"

namespace hutch::service {

namespace {

constexpr std::size_t kNamedCommitsMax = 50'000;
constexpr std::size_t kReferenceFilesMax = 100'000;
constexpr int kReferenceDepthMax = 16;
constexpr std::size_t kPackedBytesMax = 16 << 20;
constexpr std::size_t kTextBytesMax = std::size_t{64} << 20;  // of all files together

// Of the repository's directory, and of a linked worktree's in it.
constexpr std::array<std::string_view, 5> kPassingDirectories = {"rebase-merge", "rebase-apply", "sequencer",
                                                                 "rewritten", "logs"};

// A file or directory that is moved there changes as well (ext4, xfs, btrfs and tmpfs set the time at a rename).
bool is_older(const std::string& path, std::int64_t since_ns) {
  if (since_ns == 0) return false;
  const auto version = sys::file_version(path);
  return version && version->changed_ns < since_ns;
}

class NameSearch {
 public:
  void take_references(const std::string& repository);
  enum class Whose { kRepositorys, kWorktrees };
  void take_passing(const std::string& directory, Whose whose, std::int64_t since_ns);
  void take_main_logs(const std::string& directory);
  // The directory itself, and those of its linked worktrees.
  std::vector<std::string> directories_of(const std::string& repository);
  NamedCommits take() { return std::move(found_); }

 private:
  void take_entry(const std::string& path, sys::EntryKind kind);
  void take_file(const std::string& path, std::size_t bytes_max);
  void take_link(const std::string& path);
  void take_names(std::string_view text);
  void walk(const std::string& directory, int depth, std::int64_t since_ns);

  NamedCommits found_;
  std::size_t files_ = 0;
  std::size_t bytes_ = 0;
};

void NameSearch::take_references(const std::string& repository) {
  // git may keep references there instead (gitformat-reftable(5)).
  if (sys::exists(cat({repository, "/reftable"}))) found_.are_all = false;
  for (const std::string& directory : directories_of(repository)) {
    const std::string head = cat({directory, "/HEAD"});
    const auto status = sys::status_of(head);
    if (status && *status) take_entry(head, (*status)->kind);
  }
  walk(cat({repository, "/refs"}), 0, 0);
  take_file(cat({repository, "/packed-refs"}), kPackedBytesMax);
  take_file(cat({repository, "/logs/refs/stash"}), kPackedBytesMax);
}

void NameSearch::take_main_logs(const std::string& directory) {
  take_file(cat({directory, "/logs/HEAD"}), kPackedBytesMax);
  take_file(cat({directory, "/logs/refs/stash"}), kPackedBytesMax);
}

// A file system may not tell cases apart, and git takes any file there for a pseudo reference: each small one counts.
void NameSearch::take_passing(const std::string& directory, Whose whose, std::int64_t since_ns) {
  const auto listing = sys::open_listing(directory);
  const auto names = listing ? sys::names_in(listing->get(), directory) : Result<std::vector<sys::TreeEntry>>();
  if (!listing || !names) return (void)(found_.are_all = false);
  for (const sys::TreeEntry& entry : *names) {
    const bool is_index = entry.name.starts_with("index") || entry.name.starts_with("sharedindex.");
    if (is_index || entry.name == "packed-refs") continue;
    const std::string path = cat({directory, "/", entry.name});
    if (entry.kind != sys::EntryKind::kDirectory) {
      if (entry.kind == sys::EntryKind::kSymlink || !is_older(path, since_ns)) take_entry(path, entry.kind);
      continue;
    }
    const bool is_passing = std::ranges::find(kPassingDirectories, entry.name) != kPassingDirectories.end();
    if (is_passing || (whose == Whose::kWorktrees && entry.name == "refs")) walk(path, 0, since_ns);
  }
}

std::vector<std::string> NameSearch::directories_of(const std::string& repository) {
  std::vector<std::string> all{repository};
  const std::string worktrees = cat({repository, "/worktrees"});
  if (!sys::exists(worktrees)) return all;
  const auto listing = sys::open_listing(worktrees);
  const auto names = listing ? sys::names_in(listing->get(), worktrees) : Result<std::vector<sys::TreeEntry>>();
  if (!listing || !names) found_.are_all = false;
  if (!listing || !names) return all;
  for (const sys::TreeEntry& entry : *names) {
    if (++files_ > kReferenceFilesMax) found_.are_all = false;
    if (files_ > kReferenceFilesMax) break;
    if (entry.kind == sys::EntryKind::kSymlink) found_.are_all = false;
    if (entry.kind == sys::EntryKind::kDirectory) all.push_back(cat({worktrees, "/", entry.name}));
  }
  return all;
}

// What is in a directory that was moved there has not changed.
void NameSearch::walk(const std::string& directory, int depth, std::int64_t since_ns) {
  if (!is_older(directory, since_ns)) since_ns = 0;
  const auto listing = sys::open_listing(directory);
  const auto names = listing ? sys::names_in(listing->get(), directory) : Result<std::vector<sys::TreeEntry>>();
  if (!listing || !names || depth > kReferenceDepthMax) return (void)(found_.are_all = false);
  for (const sys::TreeEntry& entry : *names) {
    const std::string path = cat({directory, "/", entry.name});
    if (++files_ > kReferenceFilesMax) return (void)(found_.are_all = false);
    if (entry.kind == sys::EntryKind::kDirectory) {
      walk(path, depth + 1, since_ns);
      continue;
    }
    if (entry.kind == sys::EntryKind::kSymlink || !is_older(path, since_ns)) take_entry(path, entry.kind);
  }
}

// git follows a link that is a reference; one to another reference is found there.
void NameSearch::take_link(const std::string& path) {
  const auto target = sys::tree_link_text(path);
  const bool is_reference = target && target->starts_with("refs/") && !target->contains("/../");
  if (!is_reference) found_.are_all = false;
}

// git waits for the other end of a pipe: it is no reference.
void NameSearch::take_entry(const std::string& path, sys::EntryKind kind) {
  if (kind == sys::EntryKind::kSymlink) return take_link(path);
  if (kind == sys::EntryKind::kFile || kind == sys::EntryKind::kUnknown) take_file(path, kPackedBytesMax);
}

void NameSearch::take_file(const std::string& path, std::size_t bytes_max) {
  const auto text = sys::regular_file_text(path, std::min(bytes_max, kTextBytesMax - bytes_));
  if (text) {
    bytes_ += text->size();
    return take_names(*text);
  }
  const auto status = sys::status_of(path);
  if (!status || *status) found_.are_all = false;
}

// Every word of as many hexadecimal digits as a name has, in lower case: git reads both cases.
void NameSearch::take_names(std::string_view text) {
  static constexpr std::string_view kDigits = "0123456789abcdefABCDEF";
  for (std::size_t at = text.find_first_of(kDigits); at != text.npos; at = text.find_first_of(kDigits, at)) {
    const std::size_t end = std::min(text.find_first_not_of(kDigits, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end;
    if (word.size() != 40 && word.size() != 64) continue;
    if (word.find_first_not_of('0') == word.npos) continue;
    if (found_.names.size() >= kNamedCommitsMax) return (void)(found_.are_all = false);
    std::string name(word);
    for (char& digit : name) digit = digit >= 'A' && digit <= 'F' ? static_cast<char>(digit - 'A' + 'a') : digit;
    found_.names.insert(std::move(name));
  }
}

}  // namespace

NamedCommits commits_at_references(const std::string& repository) {
  NameSearch search;
  search.take_references(repository);
  return search.take();
}

NamedCommits commits_in_passing(const std::string& repository, std::int64_t since_ns) {
  NameSearch search;
  for (const std::string& directory : search.directories_of(repository)) {
    using enum NameSearch::Whose;
    search.take_passing(directory, directory == repository ? kRepositorys : kWorktrees, since_ns);
  }
  return search.take();
}

NamedCommits commits_in_main_logs(const std::string& repository) {
  NameSearch search;
  for (const std::string& directory : search.directories_of(repository)) search.take_main_logs(directory);
  return search.take();
}

std::vector<std::string> latest_heads(const std::string& repository) {
  static constexpr std::size_t kLatest = 4;
  NameSearch search;
  std::vector<std::string> latest;
  for (const std::string& directory : search.directories_of(repository)) {
    const auto text = sys::regular_file_text(cat({directory, "/logs/HEAD"}), kPackedBytesMax);
    if (!text) continue;
    const std::vector<std::string_view> lines = split(*text, '\n');
    for (std::size_t i = lines.size() - std::min(lines.size(), kLatest + 1); i < lines.size(); ++i) {
      const std::size_t space = lines[i].find(' ');
      if (space == std::string_view::npos) continue;
      const std::string_view after = lines[i].substr(space + 1);
      latest.emplace_back(after.substr(0, after.find(' ')));
    }
  }
  return latest;
}

}  // namespace hutch::service
