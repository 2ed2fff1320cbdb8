// What of the user's configuration of git is brought into a sandbox that does not see their home.
#pragma once

#include <string>
#include <vector>

namespace hutch::host {

struct GitPersonSearch {
  std::string home;
  std::string project;                   // absolute: conditions of includeIf are about its repository
  std::vector<std::string> environment;  // "K=V" each: of the caller, whose git has the same
};

struct GitPerson {
  std::string values;    // a configuration (policy/git_values.h); empty: none
  std::string excludes;  // what core.excludesFile says, as gitignore(5); empty: nothing
};

// Of the system's and the user's files and the environment. What cannot be read, or is too large, is left out: git says
// so itself outside.
GitPerson git_person(const GitPersonSearch& search);

}  // namespace hutch::host
