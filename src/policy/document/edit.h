// Changes one key of a policy's JSON text, or one entry of projects.json, and leaves the rest as it was written; tells
// what such changes have added to a policy that they began with. Pure;
// whether the result may be kept is for the reader to say.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hutch::policy {

// Which of a user's policies a change is about, seen from a directory.
enum class Scope {
  kProject,  // the entry of projects.json that covers it; a new one where none does
  kNew,      // the directory's own; where it is new, a copy of the one that covers it
  kDefault,  // default.json
};

enum class EditKind {
  kSet,     // the key has this value
  kAdd,     // its list has this item; one that it has already is no error
  kRemove,  // its list has this item no more; without a value the key itself goes
};

// `key` is one of the table ("network.allowedDomains"), or one in a key that holds names ("environment.CI"). `value` is
// as a person types it: plain text where the key takes text, else JSON.
struct Edit {
  EditKind kind = EditKind::kSet;
  std::string key;
  std::optional<std::string> value;
};
Result<std::string> edited(std::string_view policy, const Edit& edit);

// The value of a key as JSON; nothing where it is not set.
Result<std::optional<std::string>> value_at(std::string_view policy, std::string_view key);

// The entries that the lists of `text` have besides those of `base`, as JSON of the same shape. Nothing where `text` is
// another policy: it lacks an entry of `base`, or differs in anything but lists.
std::optional<std::string> added_to(std::string_view base, std::string_view text);

// `policy` with such entries at the ends of its lists. An error where it has something else in a list's place.
Result<std::string> with_added(std::string_view policy, std::string_view added);

// The default policy of whoever brings `first` in place of the built-in one: default.json as it is, where a person
// wrote it; `first` with what was added, where that is all that default.json has besides the built-in policy.
Result<std::string> default_with_first(std::string_view first, std::string_view default_json);

// The paths in projects.json, as written.
Result<std::vector<std::string>> project_paths(std::string_view projects);

// The one of them that is `directory` or above it, the longest.
std::optional<std::string> covering_path(const std::vector<std::string>& paths, std::string_view directory);

// The policy of one entry, which has to be there, and projects.json with another policy for it, which may be new.
Result<std::string> project_entry(std::string_view projects, const std::string& path);
Result<std::string> with_project(std::string_view projects, const std::string& path, std::string_view policy);

// A policy's text, and all of projects.json, held against the reader. Errors name the line.
Status check_policy_text(std::string_view text, std::string_view source);
Status check_projects_text(std::string_view text, std::string_view source);

}  // namespace hutch::policy
