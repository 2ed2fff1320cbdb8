// Which contents of protected files the user has committed: for each repository in the sandbox, by the list of commits
// that hutch keeps (plan/git/known_commits.h).
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
#include "guest/git/reader.h"
#include "guest/places/access_place.h"
#include "plan/git/contents.h"

namespace hutch::guest {

// `path` from `base` (absolute), without "." and "..".
std::string path_from(const std::string& base, std::string_view path);

class TrustedContents {
 public:
  // `commits` is the directory of the lists; without it nothing is known.
  explicit TrustedContents(UniqueFd commits) : commits_(std::move(commits)) {}
  bool knows_commits() const { return static_cast<bool>(commits_); }

  // Whether git takes a directory above the entry for a work tree, whoever made its repository.
  bool is_in_work_tree(const Places& places, const Entry& entry) const;

  // From here on another command counts, with its own time and bytes.
  void begin_command();

  // Whether the user's commits have that content, or any, at the entry's path in its work tree. Each takes a few
  // seconds at most, and all of a command little more.
  plan::GitContents::Found find(const Places& places, const Entry& entry, std::uint32_t mode, std::string_view content);
  bool is_at_reference(const Places& places, const Entry& entry, std::uint32_t mode, std::string_view content);
  plan::GitContents::AtReferences at_references(const Places& places, const Entry& entry);

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kCommandTime{20};
  static constexpr std::uint64_t kCommandBytes = std::uint64_t{1} << 30;
  static constexpr int kCommandStarts = 2;
  struct WorkTree {
    UniqueFd repository;  // the directory that has the objects and the references
    std::string file;     // of its list
    std::string path;     // of the entry, relative to the work tree
  };
  struct Repository {
    UniqueFd objects;  // O_PATH, the directory
    std::optional<GitReader> reader;
    std::optional<plan::GitContents> contents;
    std::string list;  // the text that `contents` was made of
    Clock::time_point until{};
    // For all questions of a command.
    Clock::duration left = kCommandTime;
    std::uint64_t bytes_left = kCommandBytes;
    int starts_left = kCommandStarts;  // of the reader
  };
  std::optional<WorkTree> work_tree_of(const Places& places, const Entry& entry) const;
  template <class Ask>
  auto ask(const Places& places, const Entry& entry, Ask ask) -> decltype(ask(std::declval<plan::GitContents&>(), ""));
  static bool start_reader(Repository& repository);
  static std::optional<plan::GitObject> read(Repository& repository, std::string_view name);
  Repository* repository_of(const Places& places, const Entry& entry, std::string& path);

  UniqueFd commits_;
  std::map<std::string, std::unique_ptr<Repository>> repositories_;  // by the names of their lists
};

}  // namespace hutch::guest
