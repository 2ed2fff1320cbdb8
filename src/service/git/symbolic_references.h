// Finds symbolic references of a repository by which git would write another file of it than a reference.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace hutch::service {

struct ReferencesElsewhere {
  struct Found {
    std::string path;
    std::string name;  // what it refers to
  };
  std::vector<Found> found;
  bool is_complete = true;  // false: some directories could not be searched
  std::string not_searched{};  // the first of them
};

// Searches the directories of repositories and of their linked worktrees, each for files that changed at `since_ns`
// (nanoseconds since the epoch; 0: any) or later. Where a pseudo reference or a branch is "ref: commondir", "git reset"
// and others write the commit's name into that file (refs/files-backend.c of git), and git looks for hooks and
// configuration where the file says (gitrepository-layout(5)).
ReferencesElsewhere references_elsewhere(const std::vector<std::string>& directories,
                                         const std::function<std::int64_t(const std::string& directory)>& since_ns);

}  // namespace hutch::service
