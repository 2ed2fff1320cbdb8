// The files that a command line of git's configuration runs or reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/git/obeyed.h"

namespace hutch::policy {

// Reads the line as a shell does, as far as it is possible without running it. An expansion at the beginning of a word
// stands for the work tree, the directory of git, or nothing. The work is linear in the line's size, with a limit for
// command lines in words of command lines.
std::vector<ObeyedName> names_in_command(std::string_view line);

// The setting of "section.sub.section.key".
GitEntry git_entry_of(std::string_view name, std::string_view value);

// The directory in the value of core.hooksPath whose programs git runs.
std::string git_hooks_directory(std::string_view value);

}  // namespace hutch::policy
