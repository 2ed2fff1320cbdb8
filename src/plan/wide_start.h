// Whether a directory holds more than one project, so that a command may not start there unasked.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hutch::plan {

// So many repositories directly below it make a directory one of other projects.
inline constexpr std::size_t kOtherProjectsMin = 4;

// Why `directory` is no project: "is your home". Paths are canonical. `repositories`: how many lie directly below it,
// where it is none itself.
std::optional<std::string> why_wide(std::string_view directory, std::string_view home, std::size_t repositories);

}  // namespace hutch::plan
