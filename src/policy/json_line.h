// Where in a JSON text a value stands, for messages about it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace hutch::policy {

// The line, from 1, of the last part of `path` that is found; a part is a member's name or an item's number. The text
// has to be JSON.
std::size_t line_of(std::string_view text, std::span<const std::string> path);

}  // namespace hutch::policy
