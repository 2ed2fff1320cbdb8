// Looks at the host once for all rules: canonical paths, what patterns match, what must never be written, identities.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/paths/listings.h"
#include "host/paths/outer_repository.h"
#include "plan/path_facts.h"
#include "policy/rules.h"

namespace hutch::host {

struct PathQuestion {
  std::vector<policy::Rule> rules;        // of the policy and the options, as rules_of() gives them
  std::string project;                    // canonical
  std::vector<std::string> policy_files;  // never writable inside
  std::vector<std::string> own_programs{};  // absolute: hutch starts them outside of sandboxes
  std::vector<std::string> also;          // absolute paths to look at besides
  policy::GitConfig git_config = policy::GitConfig::kProtected;
  std::vector<std::string> allow_obeyed{};  // names of the list of obeyed files that the policy lifts
  std::vector<std::string> search_path{};   // absolute: the user's shell looks for programs there
  std::vector<std::string> environment{};  // the caller's, "K=V" each: git takes settings from it
  int mandatory_search_depth = 3;
  std::optional<OuterRepository> repository{};  // comes along if the rules leave room for it
  // As MandatorySearch has it.
  std::function<bool(const std::string& directory)> is_sandboxes{};
  // Whether denied names and patterns hold for what is made later as well: then nobody has to be told.
  enum class Names { kAtStart, kAlways } names = Names::kAtStart;
};

struct PathAnswer {
  std::vector<policy::Rule> rules;  // canonical, patterns expanded, built-in and mandatory ones added
  plan::PathFacts facts;
  std::vector<std::string> notes;
  plan::ObeyedPlaces obeyed;
  std::vector<plan::NameRule> names;  // names from git's configuration, in each work tree
  bool searched_all = true;  // whether the search for repositories could enter each directory
  Listings listings{};  // of what that search read
  std::vector<std::string> missing_store;  // hutch's own directories that a sandbox could make, because they are absent
};

// An error: a cycle of links, an allowing entry that leaves its place by a link, a pattern that matches too much, a
// rule that cannot hold.
Result<PathAnswer> look_at_paths(const PathQuestion& question, const plan::HostFacts& facts);

struct CanonicalPath {
  std::string path;
  plan::FileType type = plan::FileType::kAbsent;
};

// Where an absolute path leads, ".." taken after links as the kernel does; what does not exist is taken as written.
Result<CanonicalPath> canonical_path(std::string_view path);

struct PathSeen {
  CanonicalPath leads_to;
  bool is_lost = false;  // ".." leads out of a directory that is not there
};

using PathFilter = std::function<bool(std::string_view)>;

// The same as a sandbox under `rules` sees it: links that are hidden from it lead nowhere. `is_made`: whether it has a
// directory of its own at a path that is hidden.
Result<PathSeen> path_as_seen(std::string_view path, const std::vector<policy::Rule>& rules, const PathFilter& is_made);

}  // namespace hutch::host
