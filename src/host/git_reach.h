// Which files the user's git obeys by its configuration, as it is now.
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
  std::vector<std::string> environment;  // "K=V" each: of the caller, whose git has the same
};

struct ObeyedPath {
  std::string path;   // absolute; neither canonical nor known to exist
  std::string where;  // the setting and the file that says so
};

struct ObeyedByGit {
  std::vector<ObeyedPath> paths;
  std::vector<ObeyedPath> patterns;  // of paths (policy/glob.h): the names that count in each work tree
};

// The files of the system's, the user's and the repositories' configurations, with all that they include. An error:
// they are more, or larger, than hutch reads.
Result<ObeyedByGit> paths_that_git_obeys(const GitSearch& search);

}  // namespace hutch::host
