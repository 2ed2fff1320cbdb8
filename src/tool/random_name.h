// Part of a file name that nobody else has chosen.
#pragma once

#include <string>

namespace hutch::tool {

// Sixteen hexadecimal digits.
std::string random_name();

}  // namespace hutch::tool
