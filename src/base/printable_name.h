// Makes names printable for questions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hutch {

// As printable(), but a blank stays only if it is single and between other characters. A row of blanks could move the
// following text to a place where it looks like hutch's.
std::string printable_name(std::string_view name, std::size_t bytes_max = 16'384);

}  // namespace hutch
