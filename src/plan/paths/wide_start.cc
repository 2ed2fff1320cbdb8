// Whether a directory holds more than one project.
#include "plan/paths/wide_start.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace hutch::plan {

std::optional<std::string> why_wide(std::string_view directory, std::string_view home, std::size_t repositories) {
  static constexpr std::array<std::string_view, 4> kHomes = {"/", "/home", "/root", "/Users"};
  if (directory == home) return "is your home";
  if (is_within(home, directory)) return "holds your home";
  if (std::ranges::find(kHomes, directory) != kHomes.end()) return "holds homes";
  if (repositories < kOtherProjectsMin) return std::nullopt;
  return cat({"holds ", std::to_string(repositories), " or more repositories"});
}

}  // namespace hutch::plan
