// The commits that a repository names (gitrepository-layout(5)): at its references, and where git notes some for the
// next command.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace hutch::service {

struct NamedCommits {
  std::set<std::string> names;  // in hexadecimal
  bool are_all = true;          // false: git may find more than this search can read
};

// At branches, tags, remote branches, notes, the stash and each HEAD.
NamedCommits commits_at_references(const std::string& repository);

// In all other files by which git, or a person, finds a commit: the pseudo references (ORIG_HEAD, FETCH_HEAD, ...),
// what a merge, rebase, cherry-pick or bisect left, the references of linked worktrees, the logs. Of the logs only
// those that have changed since then, in nanoseconds since the epoch.
NamedCommits commits_in_passing(const std::string& repository, std::int64_t logs_since_ns);

// The logs of each HEAD and of the stash: any of git's logs has hardly a name that none of these has.
NamedCommits commits_in_main_logs(const std::string& repository);

// What HEAD has been at last, by its logs: a sandbox may have written anything there.
std::vector<std::string> latest_heads(const std::string& repository);

}  // namespace hutch::service
