// Alpine's names of packages, which recipes use, as Debian has them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hutch {

// Absent: the table has no other name for it.
std::optional<std::string> debian_name_of(std::string_view alpine);

}  // namespace hutch
