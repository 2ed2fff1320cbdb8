// The lists of commits that the references of repositories have named: which are the user's, and which a sandbox may
// have made (plan/known_commits.h).
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "plan/known_commits.h"
#include "sandbox/access.h"
#include "store/settings_file.h"

namespace hutch::service {

// What the references of a repository name, in hexadecimal. kAlsoPassing: also what git notes for the next command,
// such as MERGE_HEAD.
enum class ReferenceKinds { kLasting, kAlsoPassing };
struct NamedCommits {
  std::set<std::string> names;
  plan::References references = plan::References::kAll;
};
NamedCommits commits_at_references(const std::string& repository, ReferenceKinds kinds);

// By the settings; without them, or with broken ones, nothing lands.
sandbox::AccessRules::Committed committed_files(const store::SettingsFile& file);

// The part of one run. What the run leaves at references is a sandbox's; so is what is new when it starts, if another
// run may have made it.
class GitCommits {
 public:
  explicit GitCommits(std::string directory) : directory_(std::move(directory)) {}
  ~GitCommits();
  GitCommits(const GitCommits&) = delete;
  GitCommits& operator=(const GitCommits&) = delete;

  // Before the command starts. `others` tells whether another run may write the repository.
  void begins(const std::vector<std::string>& repositories,
              const std::function<plan::OtherRuns(const std::string& repository)>& others);
  // After a command has ended. An error: a later run may take for the user's what this one made.
  [[nodiscard]] bool note(const std::vector<std::string>& repositories) const;

 private:
  enum class Ends { kNo, kYes };
  bool note_one(const std::string& repository, Ends ends) const;

  const std::string directory_;
  std::set<std::string> begun_;
};

}  // namespace hutch::service
