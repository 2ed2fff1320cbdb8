// What is checked of JSON text before a tree is built from it: size, depth, twice written keys, syntax.
#pragma once

#include <string_view>

#include "base/result.h"

namespace hutch::policy {

// The message names line and column.
Status check_json(std::string_view text);

}  // namespace hutch::policy
