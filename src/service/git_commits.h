// The lists of commits that the references of repositories have named: which are the user's, and which a sandbox may
// have made (plan/known_commits.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "plan/known_commits.h"
#include "sandbox/access.h"
#include "store/settings_file.h"

namespace hutch::service {

// By the settings; without them, or with broken ones, nothing lands.
sandbox::AccessRules::Committed committed_files(const store::SettingsFile& file);

struct IndexesLeft;

// The part of one run. What the run leaves at references is a sandbox's; so is what is new when it starts, if another
// run may have made it. What it leaves at protected names is listed when it ends: nobody asks the store for that later.
class GitCommits {
 public:
  explicit GitCommits(std::string directory);
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
  bool note_one(const std::string& repository, const Indexes& indexes, Ends ends) const;

  const std::string directory_;
  const std::int64_t start_ns_;
  // The repositories where this run has begun, with what their logs named then: no commit of this run's.
  std::map<std::string, std::set<std::string>> begun_;
  mutable std::set<std::string> ended_;  // of those
};

}  // namespace hutch::service
