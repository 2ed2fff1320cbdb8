// What a pattern matches on the host now, and which names in a tree must never be written.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/policy.h"

namespace hutch::host {

// Absolute paths that the absolute pattern matches; links are matched and never followed. More matches or a larger
// walk than base/limits.h allows is an error: a rule that holds for a part would be a rule that does not hold.
//
// For a deny two doubts count as matches. A directory that cannot be listed: its owner could open it again from inside.
// A name that is the pattern itself, as in pages/[slug].
enum class Doubt { kIsNoMatch, kIsMatch };
Result<std::vector<std::string>> expand_pattern(std::string_view pattern, Doubt doubt = Doubt::kIsNoMatch);

class Listings;

struct MandatorySearch {
  std::string root;  // canonical
  int depth = 3;  // 1: the names in root itself
  policy::GitConfig git_config = policy::GitConfig::kProtected;
  std::span<const std::string> allowed{};  // names of the list of obeyed files that the search skips
  std::span<const std::string> closed{};  // canonical directories that the search skips: nothing writes there
  // Whether a sandbox has made the repository with this directory, and nobody has configured it since: the names in it
  // are not denied. Nor are then ".git" files and commondir that a sandbox has made, which tell it themselves
  // (plan::is_marked_git_link()). Absent: each is the user's.
  std::function<bool(const std::string& directory)> is_sandboxes{};
  // Not null: the search looks only for repositories, and uses what it knows of unchanged directories.
  Listings* repositories_by = nullptr;
  // Not null: keeps for such a search what this one reads.
  Listings* kept_in = nullptr;
  // Other canonical directories that the sandbox may write: a link named ".git" can lead to a repository there.
  std::span<const std::string> roots{};
};

struct MandatoryFound {
  std::vector<std::string> denied;
  std::vector<std::string> told_links;  // symbolic links with names that hutch reports
  std::vector<std::string> sandbox_links;  // ".git" files that sandboxes made, which are not denied
  // Symbolic links named ".git" to a repository that the sandbox may write. The names in the repository are denied, and
  // the link has to stay as it is.
  std::vector<std::string> git_links;
  // Directories of repositories and of linked worktrees, and each ".git", which "git init" would make a repository.
  // Also those that lie inside of another one below ".git/modules".
  std::vector<std::string> repositories;
  // The first directory of this user's that the search could not enter, although git may find repositories below it: it
  // cannot be listed, or lies deeper in modules. Empty if there is none.
  std::string not_searched{};
};

// Paths below `root` that exist and are mandatory write denies; a directory that cannot be listed is one itself. Does
// not enter node_modules and follows no links.
Result<MandatoryFound> find_mandatory(const MandatorySearch& search);

}  // namespace hutch::host
