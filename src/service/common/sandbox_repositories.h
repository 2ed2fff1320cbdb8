// Which repositories of git sandboxes have made, from one sandbox to the next.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/facts.h"
#include "plan/guarded_names.h"

namespace hutch::service {

struct MadeRepository {
  std::string directory;  // as the host has it
  plan::RepositoryIdentity identity;
};

// Absent: there is none, it is behind a link, or its file system keeps no time of birth.
std::optional<plan::RepositoryIdentity> repository_identity(const std::string& directory);

// A repository that a sandbox has made counts as the next one's as long as it is configured as the sandbox left it: a
// person's configuration, and a hook, make it theirs. A command may then change and remove it as a whole.
class SandboxRepositories {
 public:
  // `data` is hutch's own directory.
  explicit SandboxRepositories(const std::string& data);

  // Whether the repository counts as a sandbox's; taken() then has it.
  bool take(const std::string& directory);
  std::vector<MadeRepository> taken() const { return taken_; }
  std::vector<plan::RepositoryIdentity> identities() const;  // of these
  const std::string& data() const { return data_; }

  // A sandbox has made it, and leaves it as it is now. Where that cannot be kept, the repository is the user's.
  void keep(const MadeRepository& repository);

 private:
  std::string file_of(const plan::RepositoryIdentity& identity) const;

  const std::string data_;
  const std::string place_;
  const bool has_any_;  // most users' sandboxes make none
  std::vector<MadeRepository> taken_;
};

// Of this process's own data directory.
Result<SandboxRepositories> sandbox_repositories(const plan::HostFacts& facts);

}  // namespace hutch::service
