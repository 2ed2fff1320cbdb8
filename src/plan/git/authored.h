// What a sandbox's commits and trees have at protected names: found out when its run ends, from a store that may lie.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/git/objects.h"

namespace hutch::plan {

// A file at a path of the work tree, as git has it.
struct GitAuthored {
  std::string path;
  std::uint32_t mode = 0;
  std::string object;  // its name in bytes
  auto operator<=>(const GitAuthored&) const = default;
};

// Whether a path of a work tree has a name of the list of obeyed files that is held (policy/obeyed/obeyed.h).
bool is_brought_name(std::string_view path);

class GitAuthoredSearch {
 public:
  struct Limits {
    std::size_t commits_max = 20'000;
    std::size_t trees_max = 50'000;
    std::size_t found_max = 4096;
    std::uint64_t bytes_max = 256 << 20;
    std::function<bool()> has_time = [] { return true; };
  };
  // `known` are names in bytes: those commits, and all before them, are the user's or have been listed.
  GitAuthoredSearch(std::vector<std::string> known, LookUpGitObject look_up, Limits limits);

  // kAll: everything is listed. kLacking: the store has not all of it; git cannot use that either, as long as it is so.
  // kUnknown: it may have more than this search can see.
  enum class Outcome { kAll, kLacking, kUnknown };
  // A commit, or a tag or tree, and what is before it.
  Outcome add(std::string_view name, GitHash hash);
  // Commits that trees are likely to differ little from. Only those count that are known or have been listed.
  void compare_with(const std::vector<std::string>& commits, GitHash hash);
  // A tree that git takes for the directory `path` of the work tree ("" or "a/b/").
  Outcome add_tree(std::string_view name, const std::string& path, GitHash hash);
  Outcome add_file(std::string_view path, std::uint32_t mode, std::string_view object);

  const std::set<GitAuthored>& found() const { return found_; }

 private:
  struct Read {
    GitObjectAnswer::Found found = GitObjectAnswer::Found::kNo;
    const GitObject* object = nullptr;
  };
  Read read(std::string_view name, GitHash hash);
  struct Peeled {
    Outcome outcome = Outcome::kAll;
    std::string name;
    GitObjectKind kind = GitObjectKind::kCommit;
  };
  Peeled peeled(std::string_view name, GitHash hash);
  // Nothing is lacking where `outcome` is kAll.
  struct Commits {
    Outcome outcome = Outcome::kAll;
    std::vector<std::string> names;
  };
  Commits plainly_new(const std::string& name, GitHash hash);
  Commits new_commits(const std::string& name, GitHash hash);
  Outcome list_commit(const std::string& name, GitHash hash);
  Outcome list_tree(const std::string& name, const std::string& path, const std::vector<std::string>& bases,
                    GitHash hash);
  std::vector<GitTreeFile> base_files(const std::vector<std::string>& bases, GitHash hash);
  std::vector<std::string> trees_at(std::string_view path, GitHash hash);
  bool is_spent() const;

  const std::set<std::string, std::less<>> known_;
  const std::vector<std::string> known_in_order_;
  LookUpGitObject look_up_;
  Limits limits_;
  std::map<std::string, GitObject, std::less<>> objects_;  // whose sum was checked
  std::set<std::string> listed_;  // commits
  std::vector<std::string> compared_;  // trees
  std::set<std::pair<std::string, std::string>> trees_;  // name and path of those that were listed in whole
  std::set<GitAuthored> found_;
  std::size_t commits_read_ = 0;
  std::size_t trees_read_ = 0;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace hutch::plan
