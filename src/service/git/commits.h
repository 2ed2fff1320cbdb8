// The lists of commits that the references of repositories have named: which are the user's, and which a sandbox may
// have made (plan/git/known_commits.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan/git/known_commits.h"

namespace hutch::service {

struct IndexesLeft;

// The part of one run. What the run leaves at references is a sandbox's; so is what is new when it starts, if another
// run may have made it. What it leaves at protected names is listed when it ends: nobody asks the store for that later.
class GitCommits {
 public:
  // kWhereBegun: only of repositories that have a list. Until files land nobody asks; one that was begun is continued,
  // so that it says whose each commit is when they land again.
  enum class Keeps { kWhereBegun, kAll };
  GitCommits(std::string directory, Keeps keeps);
  ~GitCommits();
  GitCommits(const GitCommits&) = delete;
  GitCommits& operator=(const GitCommits&) = delete;

  // Before the command starts. `others` tells whether another run may write the repository.
  void begins(const std::vector<std::string>& repositories,
              const std::function<plan::OtherRuns(const std::string& repository)>& others);
  // After a command has ended. An error: a later run may take for the user's what this one made.
  enum class WhichIndexes { kChanged, kAll };
  using Indexes = std::function<IndexesLeft(const std::string& repository, WhichIndexes which)>;
  // kYes: the sandbox has ended.
  enum class Ends { kNo, kYes };
  [[nodiscard]] bool note(const std::vector<std::string>& repositories, const Indexes& indexes, Ends ends) const;

 private:
  std::optional<std::string> list_of(const std::string& repository) const;
  bool note_one(const std::string& repository, const Indexes& indexes, Ends ends) const;

  const std::string directory_;
  const Keeps keeps_;
  const std::int64_t start_ns_;
  // The repositories where this run has begun, with what their logs named then: no commit of this run's.
  std::map<std::string, std::set<std::string>> begun_;
  mutable std::set<std::string> ended_;  // of those
};

}  // namespace hutch::service
