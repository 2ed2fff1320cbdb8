// Bounds that JSON from elsewhere is held to before a parser sees it.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace hutch::wire {

// Refuses what is larger than `bytes_max` or nests deeper than limits::kJsonDepthMax: nlohmann's parser keeps no bound
// of its own, and writing a very deep value out again overflows the stack.
Status check_json_shape(std::string_view text, std::size_t bytes_max);

}  // namespace hutch::wire
