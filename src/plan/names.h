// Names that may not be written wherever they turn up: the supervisor asks for each path that something is done to.
#pragma once

#include <bitset>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "policy/policy.h"
#include "policy/rules.h"

namespace hutch::plan {

// The mandatory names, and the entries that deny writing by a pattern. `patterns`: rules with a wildcard in their path,
// absolute, as they were before anybody looked at what exists. `obeyed`: names in each work tree, which an entry for
// the very path lifts.
GuardedNames guarded_names(const policy::Policy& policy, std::span<const policy::Rule> rules,
                           std::span<const policy::Rule> patterns, std::span<const NameRule> obeyed = {});

// The rule that denies writing `path` (absolute, canonical).
std::optional<NameRule> denied_name(const GuardedNames& names, std::string_view path);

// Tells quickly of most paths that they have no denied name.
class MayBeDenied {
 public:
  explicit MayBeDenied(const GuardedNames& names);
  bool operator()(std::string_view path) const;

 private:
  bool may_be_component(std::string_view component) const;

  std::set<std::string, std::less<>> components_;
  std::bitset<256> first_bytes_;  // of those
  std::vector<std::string> patterns_;  // of components
};

// The name for which a change of `path` is told: a text that the next session reads.
std::optional<NameRule> told_name(const GuardedNames& names, std::string_view path);

// Whether an entry of the user is for this very path, which lifts each built-in rule about it.
bool is_lifted_path(const GuardedNames& names, std::string_view path);

// Whether it is about the configuration of a ".git".
bool is_git_config_rule(const NameRule& rule);

// What is said of a path that is refused for what git would take it for.
const NameRule& git_rule();

// The rule that looks below `path`: "x/.git" of ".git/config". A symbolic link there would show what was made
// elsewhere.
std::optional<NameRule> leads_to_name(const GuardedNames& names, std::string_view path);

// The rule that looks below `to` and did not below `from`, where what is moved could have got what it forbids. Below
// "/**" in the middle of a pattern every directory counts, but no file: it brings nothing along.
enum class Moved { kFile, kDirectoryOrLink };
std::optional<NameRule> moves_to_name(const GuardedNames& names, std::string_view from, std::string_view to,
                                      Moved what);

// The told name that `to` leads to, and `from` did not: as moves_to_name(), or a link's own place with an empty `from`.
std::optional<NameRule> moves_to_told(const GuardedNames& names, std::string_view from, std::string_view to);

// Whether a move takes a directory out of those whose names are not held, so that it has to be copied instead.
bool leaves_packages(const GuardedNames& names, std::string_view from, std::string_view to);

// The rule about a place below the directory `path`: moved, it would be about nothing any more.
std::optional<NameRule> holds_name(const GuardedNames& names, std::string_view path);

}  // namespace hutch::plan
