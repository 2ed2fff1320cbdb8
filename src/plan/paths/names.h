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

// The mandatory names, and the entries that deny writing by a pattern. `patterns` are rules with a wildcard in their
// path: absolute, and not yet expanded. `obeyed` are names in each work tree; an entry for the very path lifts them.
GuardedNames guarded_names(const policy::Policy& policy, std::span<const policy::Rule> rules,
                           std::span<const policy::Rule> patterns, std::span<const NameRule> obeyed = {});

// hutch makes some files under such a name and then renames them. No sandbox may touch a file of that name.
inline constexpr std::string_view kOwnNameStart = ".hutch-own-";

// The rule that denies writing `path` (absolute, canonical).
std::optional<NameRule> denied_name(const GuardedNames& names, std::string_view path);

// The same, if only a name of the list denies it and no answer could open it: a content that the user has committed may
// land there.
std::optional<NameRule> replaceable_name(const GuardedNames& names, std::string_view path);

// Whether the rule is about an existing file of the list. Such a file has no mount where a supervisor judges changes:
// git replaces it.
bool is_kept_file(const policy::Rule& rule);

// Finds out quickly that most paths have no denied name.
class MayBeDenied {
 public:
  explicit MayBeDenied(const GuardedNames& names);
  bool operator()(std::string_view path) const;

 private:
  bool may_be_component(std::string_view component) const;

  std::set<std::string, std::less<>> components_;
  std::bitset<256> first_bytes_;  // of `components_`
  std::vector<std::string> patterns_;  // components with a wildcard
};

// The rule for which hutch reports a change of `path`: the next session reads the file as instructions.
std::optional<NameRule> told_name(const GuardedNames& names, std::string_view path);

// The rule by which a directory itself, its mode, owner and attributes, stays as it is: each name in it that no entry
// allows is held, because it is the directory of a repository of the host.
std::optional<NameRule> held_directory(const GuardedNames& names, std::string_view path);

// A rule about that path, and what is below it, only.
NameRule rule_about(std::string_view path, std::string rule);
// That of a path which only a mount keeps from being changed.
enum class NameIs { kThere, kNew, kNewFile, kNewDirectory };
NameRule rule_of_mount(std::string_view path, NameIs name);

// Whether the user has an entry for this very path, which lifts each built-in rule about it.
bool is_lifted_path(const GuardedNames& names, std::string_view path);

// Whether the path lies in a place of the agent's own (GuardedNames::own).
bool is_place_of_agent(const GuardedNames& names, std::string_view path);

// Whether the rule is about a name in every directory, and not about one path.
bool is_name_anywhere(const NameRule& rule);

// Whether the rule is about the configuration of a ".git".
bool is_git_config_rule(const NameRule& rule);

// Whether the rule is about the configuration of a repository that is not the sandbox's (GuardedNames::configs). Such a
// file has no mount where a supervisor judges changes: it gets another content, as git gives it.
bool is_kept_config(const NameRule& rule);
bool is_kept_config(const policy::Rule& rule);

// Whether `directory` is that of such a repository.
bool is_kept_repository(const GuardedNames& names, std::string_view directory);

// The rule that hutch reports for a path that git would take for a part of a repository.
const NameRule& git_rule();

// The rule that looks below `path`: "x/.git" of ".git/config". A symbolic link there would show what was made
// elsewhere.
std::optional<NameRule> leads_to_name(const GuardedNames& names, std::string_view path);

// The rule that looks below `to` and did not below `from`, where what is moved could have got what it forbids. Below
// "/**" in the middle of a pattern every directory counts, but no file: it brings nothing along.
enum class Moved { kFile, kDirectoryOrLink };
std::optional<NameRule> moves_to_name(const GuardedNames& names, std::string_view from, std::string_view to,
                                      Moved what);

// The rule about a file that has a protected name as well (ObeyedPlaces::linked).
std::optional<NameRule> rule_of_linked(const GuardedNames& names, std::uint64_t device, std::uint64_t inode);

// The reported name that `to` leads to and `from` did not: as moves_to_name(), or a link's own path if `from` is empty.
std::optional<NameRule> moves_to_told(const GuardedNames& names, std::string_view from, std::string_view to);

// Whether a move takes a directory out of node_modules, where names are not protected: it must be copied instead.
bool leaves_packages(const GuardedNames& names, std::string_view from, std::string_view to);

// The rule about a place below the directory `path`: moved, it would be about nothing any more.
std::optional<NameRule> holds_name(const GuardedNames& names, std::string_view path);

}  // namespace hutch::plan
