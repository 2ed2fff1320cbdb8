// Whether a directory holds more than one project, so that hutch asks before a command starts there.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hutch::plan {

// A directory with this many repositories directly below it counts as a directory of other projects.
inline constexpr std::size_t kOtherProjectsMin = 4;

// Why `directory` is not a project: "is your home". Paths are canonical. `repositories` is the number of repositories
// directly below it, if it is not a repository itself.
std::optional<std::string> why_wide(std::string_view directory, std::string_view home, std::size_t repositories);

}  // namespace hutch::plan
