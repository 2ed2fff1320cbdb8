// Where the programs are that hutch starts.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace hutch::service {

// hutch-guest beside this program, or in ../lib/hutch as packages install it.
Result<std::string> guest_program();

// hutch-inspect, in the same place; not looked for before it is needed.
std::string inspector_program(const std::string& guest_program);

// hutch-unpack, likewise.
Result<std::string> unpack_program();
// The program that is root for people who are not.
Result<std::string> helper_program();

// The programs beside hutch-guest that are hutch's own.
std::vector<std::string> own_programs();

// The Python program that runs the attacks of hutch selftest, in the directory "attacks" beside hutch-guest.
Result<std::string> attacks_runner();

// bwrap in the directories of the system; never by the caller's PATH, which may name a place that a sandbox can write.
Result<std::string> bwrap_program();

}  // namespace hutch::service
