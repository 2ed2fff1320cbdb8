// What a sandbox that is an OS user has of its own over the machine's files.
#include "plan/setup/os_user_places.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "plan/trust.h"

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

void add_trust_of_os_user(std::vector<MountStep>& steps, const std::vector<TrustStore>& stores) {
  const auto own = [](std::string_view path) { return cat({kTrustOfOsUser, path}); };
  const auto is_javas = [](const TrustStore& store) { return store.file == kJavaFile; };
  steps.push_back({.kind = MountKind::kDirectory, .target = own(kTrustDirectory), .mode = 0755});
  for (const std::string_view path : {kAuthorityFile, kBundleFile, kJavaFile}) {
    if (path == kJavaFile && std::ranges::none_of(stores, is_javas)) continue;
    steps.push_back({.kind = MountKind::kFile, .target = own(path), .mode = 0444});
  }
  for (const TrustStore& store : stores) {
    steps.push_back(
        {.kind = MountKind::kCover, .target = store.path, .source = own(store.file), .identity = store.identity});
  }
}

void add_host_programs_of_os_user(std::vector<MountStep>& steps, const std::string& guest_program) {
  steps.push_back({.kind = MountKind::kDirectory, .target = cat({kTrustOfOsUser, kTrustDirectory}), .mode = 0755});
  steps.push_back({.kind = MountKind::kDirectory, .target = std::string(kProgramsOfOsUser), .mode = 0755});
  const std::string own = cat({kProgramsOfOsUser, "/hutch-host"});
  steps.push_back({.kind = MountKind::kBind, .target = own, .source = guest_program, .make = MakeTarget::kFile});
  steps.push_back(
      {.kind = MountKind::kSymlink, .target = cat({kProgramsOfOsUser, "/osaurus-host"}), .source = "hutch-host"});
}

}  // namespace hutch::plan
