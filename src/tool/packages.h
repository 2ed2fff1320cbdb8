// Which names of packages each manager is given: none that it could take for an option, a file, an address or a
// removal.
#pragma once

#include <string_view>

namespace hutch::tool {

enum class Manager { kApk, kApt, kDnf, kPip, kNpm };

std::string_view name_of(Manager manager);
bool is_package(Manager manager, std::string_view name);
std::string_view expected_package(Manager manager);

}  // namespace hutch::tool
