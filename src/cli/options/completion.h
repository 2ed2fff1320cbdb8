// Completion scripts for shells, from the table of verbs.
#pragma once

#include <string>
#include <string_view>

namespace hutch::cli {

// For bash, zsh or fish.
std::string completion_script(std::string_view shell);

}  // namespace hutch::cli
