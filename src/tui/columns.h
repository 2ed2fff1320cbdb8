// How wide a text is on a terminal, and texts made to fit. Pure; all texts are UTF-8 without control characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hutch::tui {

std::size_t columns_of(std::string_view text);

// The beginning of it, or its end, with "..." for what is left out.
std::string cut_end(std::string_view text, std::size_t columns);
std::string cut_start(std::string_view text, std::size_t columns);

// Filled with spaces, or cut.
std::string fitted(std::string_view text, std::size_t columns);

// Over as many lines as it needs, broken at spaces where there are some.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

}  // namespace hutch::tui
