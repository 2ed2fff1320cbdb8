// Notes about entries whose files do not exist.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/rules.h"

namespace hutch::host {

// Whether a denyWrite also applies to files that are made later: a supervisor judges each change by its name.
enum class Denies { kAtStart, kAlways };

struct AbsentQuestion {
  const std::vector<policy::Rule>& rules;  // canonical, all of them
  std::string_view home;
  std::function<bool(const std::string& path)> is_absent;
  Denies denies = Denies::kAtStart;
};

// One line for each kind of entry that has no effect, or less effect than its text suggests.
std::vector<std::string> absent_notes(const AbsentQuestion& question);

// Whether an allowing entry for an absent file has no effect, because the sandbox cannot make the file.
bool nothing_is_allowed(const std::vector<policy::Rule>& rules, const policy::Rule& rule, Denies denies);

// For a plan with a supervisor: has names, and no mount, hold each protected directory in which the user allows an
// absent file.
void hold_by_names(std::vector<policy::Rule>& rules, const std::function<bool(const std::string& path)>& is_absent);

// Whether an entry for the absent `path` would have such an effect.
bool would_be_allowed(const std::vector<policy::Rule>& rules, const std::string& path);

// Whether hutch may make a directory with the rule's name: not if the name looks like a file, and not if programs
// outside of the sandbox obey files with that name.
bool may_be_directory(const policy::Rule& rule, std::string_view home);

}  // namespace hutch::host
