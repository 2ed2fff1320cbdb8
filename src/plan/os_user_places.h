// What a sandbox that is an OS user has of its own over the machine's files.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace hutch::plan {

// Where they are directories of the machine.
inline constexpr std::array<std::string_view, 3> kOwnPlacesOfOsUser = {"/tmp", "/dev/shm", "/dev/mqueue"};

// A /proc, and empty ones in the place of these.
std::vector<MountStep> own_places_of_os_user(const std::function<bool(std::string_view)>& is_directory,
                                             std::uint64_t tmp_bytes);

}  // namespace hutch::plan
