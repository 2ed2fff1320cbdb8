// The files that the user's git obeys by its current configuration.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace hutch::host {

struct GitSearch {
  std::vector<std::string> repositories;  // directories of repositories, or ".git" files, absolute
  std::vector<std::string> roots;         // directories that may lie in a repository
  std::string home;
  std::string cwd;
  std::vector<std::string> environment;  // the caller's, "K=V" each: their git has the same
};

struct ObeyedPath {
  std::string path;   // absolute; it may not be canonical, and may not exist
  std::string where;  // the setting, and the file that contains it
};

struct ObeyedByGit {
  std::vector<ObeyedPath> paths;
  std::vector<ObeyedPath> elsewhere;  // git's own names, which other rules protect: they can be links, or hold links
  std::vector<ObeyedPath> patterns;  // patterns of paths (policy/glob.h): names in each work tree
};

// Files from the configurations of the system, the user and the repositories, with everything that they include. An
// error if there are more, or larger ones, than hutch reads.
Result<ObeyedByGit> paths_that_git_obeys(const GitSearch& search);

}  // namespace hutch::host
