// Notes about entries whose files do not exist.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/rules.h"

namespace hutch::host {

struct AbsentQuestion {
  const std::vector<policy::Rule>& rules;  // canonical, all of them
  std::string_view home;
  std::function<bool(const std::string& path)> is_absent;
  // Whether a denyWrite also applies to files that are made later.
  enum class Denies { kAtStart, kAlways } denies = Denies::kAtStart;
};

// One line for each kind of entry that has no effect, or less effect than its text suggests.
std::vector<std::string> absent_notes(const AbsentQuestion& question);

// Whether an allowing entry for an absent file has no effect, because the sandbox cannot make the file.
bool nothing_is_allowed(const std::vector<policy::Rule>& rules, const policy::Rule& rule);

// Whether hutch may make a directory with the rule's name: not if the name looks like a file, and not if programs
// outside of the sandbox obey files with that name.
bool may_be_directory(const policy::Rule& rule, std::string_view home);

}  // namespace hutch::host
