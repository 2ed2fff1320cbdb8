// A value of a file of settings, as JSON, in the way in which a person reads it.
#pragma once

#include <string>
#include <string_view>

namespace hutch::service {

// A text without its quotes; anything else as it is written.
std::string value_line(std::string_view text);

// The same, ended by a newline; of a list each item.
std::string value_lines(std::string_view text);

}  // namespace hutch::service
