// What a sandbox that is an OS user has of its own over the machine's files.
#include "plan/os_user_places.h"

#include <string>

namespace hutch::plan {

std::vector<MountStep> own_places_of_os_user(const std::function<bool(std::string_view)>& is_directory,
                                             std::uint64_t tmp_bytes) {
  std::vector<MountStep> steps = {{.kind = MountKind::kProc, .target = "/proc"}};
  for (const std::string_view place : kOwnPlacesOfOsUser) {
    if (!is_directory(place)) continue;
    steps.push_back({.kind = MountKind::kTmpfs,
                     .target = std::string(place),
                     .mode = place == "/dev/mqueue" ? 0755U : 01777U,
                     .size_bytes = tmp_bytes});
  }
  return steps;
}

}  // namespace hutch::plan
