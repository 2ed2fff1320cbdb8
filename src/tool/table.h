// The table of tools itself; registry.h is what others use.
#pragma once

#include <vector>

#include "tool/registry.h"

namespace hutch::tool {

// In the order in which they are listed.
std::vector<Tool> make_table();
std::vector<Tool> file_tools();
std::vector<Tool> command_tools();

}  // namespace hutch::tool
