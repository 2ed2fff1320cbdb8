// What the user's own configuration of git points to: files that git reads or runs later, outside.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/git_settings.h"

namespace hutch::policy {

// One line of git-config(1). Section and key are in lower case.
struct GitEntry {
  std::string section;
  std::string subsection;
  std::string key;
  std::string value;
  bool operator==(const GitEntry&) const = default;
};

// All settings of a configuration, read as git reads them. Git refuses a damaged file; here the rest of it counts,
// since a protection that is too much does no harm.
std::vector<GitEntry> git_entries(std::string_view text);

struct ObeyedName {
  GitRead kind = GitRead::kNothing;
  std::string path;  // as written
  // Whether it is protected even where no such file exists. A word of a command line may be anything.
  enum class Needs { kNoFile, kFile } needs = Needs::kNoFile;
};

// What the value of a setting names.
std::vector<ObeyedName> obeyed_names(const GitEntry& entry);

// What the environment ("K=V" each) says to git: other files of settings (GIT_CONFIG_GLOBAL, XDG_CONFIG_HOME), as
// settings that include them, settings themselves (GIT_CONFIG_COUNT, GIT_CONFIG_PARAMETERS), and programs (GIT_EDITOR).
std::vector<GitEntry> git_entries_of(std::span<const std::string> environment);

// A relative name is of each work tree, those too that are made later: patterns (policy/glob.h) of such paths. None for
// a name that would match what has nothing to do with git.
std::vector<std::string> obeyed_in_any_work_tree(const ObeyedName& name);

// "~/x" and "x" made absolute; nothing for what only git can say ("~user", "%(prefix)").
std::optional<std::string> obeyed_path(std::string_view path, std::string_view home, std::string_view base);

}  // namespace hutch::policy
