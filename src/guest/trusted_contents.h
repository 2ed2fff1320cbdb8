// Which contents of protected files the user has committed: for each repository in the sandbox, by the list of commits
// that hutch keeps (plan/known_commits.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "guest/access_place.h"
#include "guest/git_reader.h"
#include "plan/git_contents.h"

namespace hutch::guest {

class TrustedContents {
 public:
  // `commits` is the directory of the lists; without it nothing is known.
  explicit TrustedContents(UniqueFd commits) : commits_(std::move(commits)) {}

  // Whether git takes a directory above the entry for a work tree, whoever made its repository.
  bool is_in_work_tree(const Places& places, const Entry& entry) const;

  // Whether the user's commits have that content, or any, at the entry's path in its work tree. Each takes a few
  // seconds at most, and all together little more.
  plan::GitContents::Found find(const Places& places, const Entry& entry, std::uint32_t mode, std::string_view content);
  bool is_at_reference(const Places& places, const Entry& entry, std::uint32_t mode, std::string_view content);
  plan::GitContents::AtReferences at_references(const Places& places, const Entry& entry);

 private:
  using Clock = std::chrono::steady_clock;
  struct WorkTree {
    UniqueFd repository;  // the directory that has the objects and the references
    std::string file;     // of its list
    std::string path;     // of the entry, relative to the work tree
  };
  struct Repository {
    std::optional<GitReader> reader;
    std::optional<plan::GitContents> contents;
    std::string list;  // the text that `contents` was made of
    Clock::time_point until{};
    Clock::duration left = std::chrono::seconds(20);  // for all questions
  };
  std::optional<WorkTree> work_tree_of(const Places& places, const Entry& entry) const;
  template <class Ask>
  auto ask(const Places& places, const Entry& entry, Ask ask) -> decltype(ask(std::declval<plan::GitContents&>(), ""));
  Repository* repository_of(const Places& places, const Entry& entry, std::string& path);

  UniqueFd commits_;
  std::map<std::string, std::unique_ptr<Repository>> repositories_;  // by the names of their lists
};

}  // namespace hutch::guest
