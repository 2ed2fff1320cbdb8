// Whether the user's commits hold a content at a path: found out from commits that are known to be theirs, with the sum
// of each object on the way checked. git does not check sums when it reads, and a sandbox may write the objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/git/known_commits.h"
#include "plan/git/objects.h"

namespace hutch::plan {

// What the store has at an object's name (in bytes): any bytes. Nothing: it has none.
using ReadGitObject = std::function<std::optional<GitObject>(std::string_view name)>;

class GitContents {
 public:
  struct Limits {
    std::size_t commits_max = 20'000;
    std::function<bool()> has_time = [] { return true; };
  };
  GitContents(KnownCommits known, ReadGitObject read, Limits limits);

  // kAtReference: a commit that a reference named has it at the path. kOlder: only a commit before such a one.
  enum class Found { kNo, kAtReference, kOlder };
  Found find(std::string_view path, std::uint32_t mode, std::string_view content);
  // Likewise, of the commits at references alone.
  bool is_at_reference(std::string_view path, std::uint32_t mode, std::string_view content);
  // Of the commits at references: whether one has a file at the path, and whether one has nothing there.
  struct AtReferences {
    bool is_somewhere = false;
    bool is_missing = false;
  };
  AtReferences at_references(std::string_view path);

 private:
  struct Entry {
    GitTreeLookup::Found found = GitTreeLookup::Found::kBroken;
    GitTreeEntry entry{};
  };
  GitHash hash_of(const KnownCommit& commit) const;
  const GitObject* object(std::string_view name, GitHash hash);
  const GitCommit* commit(std::string_view name, GitHash hash);
  Entry entry_at(std::string_view commit_name, std::string_view path, GitHash hash);
  bool is_it(std::string_view commit_name, std::string_view path, const GitTreeEntry& wanted, GitHash hash);
  std::size_t first_of_sandboxes(std::string_view path, const GitTreeEntry& wanted) const;
  bool is_of_sandbox_before(std::string_view name, std::size_t position) const;
  bool has_at_reference(std::string_view path, const GitTreeEntry& wanted, GitHash hash, std::size_t end);
  bool is_older(std::string_view path, const GitTreeEntry& wanted, GitHash hash, std::size_t end);
  std::string peeled(std::string_view name, GitHash hash);

  KnownCommits known_;
  ReadGitObject read_;
  Limits limits_;
  std::map<std::string, std::size_t, std::less<>> of_sandboxes_;  // names in bytes; where they are in the list
  std::map<std::string, GitObject, std::less<>> objects_;  // whose sum was checked
  std::uint64_t held_bytes_ = 0;
  std::map<std::string, std::optional<GitCommit>, std::less<>> commits_;
};

}  // namespace hutch::plan
