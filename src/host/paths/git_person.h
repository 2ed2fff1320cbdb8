// The part of the user's configuration of git that hutch brings into a sandbox that does not see their home.
#pragma once

#include <string>
#include <vector>

#include "policy/rules.h"

namespace hutch::host {

struct GitPersonSearch {
  std::string home;
  std::string project;                   // absolute: conditions of includeIf are about its repository
  std::vector<std::string> environment;  // the caller's, "K=V" each: their git has the same
  std::vector<std::string> writable{};   // where sandboxes may have put links, besides the project
  std::vector<policy::Rule> rules{};     // of the policy and the options: nothing comes from a file that they hide
};

struct GitPerson {
  std::string values;    // a configuration (policy/git/values.h); empty: none
  std::string excludes;  // the content of core.excludesFile, as gitignore(5); empty: none
};

// Reads the system's and the user's files and the environment. Files that cannot be read, or are too large, are left
// out: git itself reports them outside. So are files that a rule hides.
GitPerson git_person(const GitPersonSearch& search);

// Whether a rule hides this very file, by any of the names by which it is reached. A rule that hides the whole home is
// about no file in it: these values are there because the home is hidden.
bool is_hidden_by_rule(const std::vector<policy::Rule>& rules, const std::string& home, const std::string& file);

}  // namespace hutch::host
