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
  // Whether a denyWrite also holds for files that are made later.
  enum class Denies { kAtStart, kAlways } denies = Denies::kAtStart;
};

// A line for each kind of entry that has no effect, or less than it says.
std::vector<std::string> absent_notes(const AbsentQuestion& question);

// Whether an allowing entry about an absent file has no effect: the sandbox cannot make the file.
bool nothing_is_allowed(const std::vector<policy::Rule>& rules, const policy::Rule& rule);

// Whether hutch may make a directory by the rule's name: not if the name looks like a file, and not if programs outside
// of the sandbox obey files of that name.
bool may_be_directory(const policy::Rule& rule, std::string_view home);

}  // namespace hutch::host
