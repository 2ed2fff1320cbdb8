// The files that the user's own configuration of git points to: git reads or runs them later, outside.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/git/settings.h"

namespace hutch::policy {

// One line of git-config(1). Section and key are in lower case.
struct GitEntry {
  std::string section;
  std::string subsection;
  std::string key;
  std::string value;
  bool operator==(const GitEntry&) const = default;
};

// All settings of a configuration, read as git reads them. git refuses a damaged file; hutch still uses the rest of it,
// because one protection too many does no harm.
std::vector<GitEntry> git_entries(std::string_view text);

struct ObeyedName {
  GitRead kind = GitRead::kNothing;
  std::string path;  // as written
  // What has to be there for the name to be protected, because a word of a command line may be anything.
  enum class Needs {
    kNoFile,  // nothing
    kNoDirectory,  // nothing, or a file; without a file it is protected only in the work trees of today
    kFile,  // a file
    kInPath,  // a relative directory in the user's PATH: `path` is the name of a program
    kMatches,  // nothing: `path` is a pattern (policy/glob.h), protected only in the work trees of today
  } needs = Needs::kNoFile;
};

// The names in the value of a setting.
std::vector<ObeyedName> obeyed_names(const GitEntry& entry);

// The settings that the environment ("K=V" each) gives to git: other configuration files (GIT_CONFIG_GLOBAL,
// XDG_CONFIG_HOME), as settings that include them; settings themselves (GIT_CONFIG_COUNT, GIT_CONFIG_PARAMETERS); and
// programs (GIT_EDITOR).
std::vector<GitEntry> git_entries_of(std::span<const std::string> environment);

// A relative name applies to each work tree, also to later ones: patterns (policy/glob.h) of such paths. There are none
// for a name that would match paths unrelated to git.
std::vector<std::string> obeyed_in_any_work_tree(const ObeyedName& name);

// Makes "~/x" and "x" absolute; nothing for paths that only git can resolve ("~user", "%(prefix)").
std::optional<std::string> obeyed_path(std::string_view path, std::string_view home, std::string_view base);

}  // namespace hutch::policy
