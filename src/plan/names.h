// Names that may not be written wherever they turn up: the supervisor asks for each path that something is done to.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "policy/policy.h"
#include "policy/rules.h"

namespace hutch::plan {

// The mandatory names, and the entries that deny writing by a pattern. `patterns`: rules with a wildcard in their path,
// absolute, as they were before anybody looked at what exists.
std::vector<NameRule> name_rules(const policy::Policy& policy, std::span<const policy::Rule> rules,
                                 std::span<const policy::Rule> patterns);

// The rule that denies writing `path` (absolute, canonical); null: none does.
const NameRule* denied_name(std::span<const NameRule> names, std::string_view path);

// The rule that looks below `path`: "x/.git" of ".git/config". A symbolic link there would show what was made
// elsewhere.
const NameRule* leads_to_name(std::span<const NameRule> names, std::string_view path);

// The rule that looks below `to` and did not below `from`, where what is moved could have got what it forbids. Below
// "/**" in the middle of a pattern every directory counts, but no file: it brings nothing along.
enum class Moved { kFile, kDirectoryOrLink };
const NameRule* moves_to_name(std::span<const NameRule> names, std::string_view from, std::string_view to, Moved what);

// The rule about a place below the directory `path`: moved, it would be about nothing any more.
const NameRule* holds_name(std::span<const NameRule> names, std::string_view path);

}  // namespace hutch::plan
