// Finds what keeps the kernel from a change that the supervisor lets through: a read-only mount, or a mount on a name.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "guest/places/access_arguments.h"
#include "guest/places/access_place.h"
#include "plan/paths/names.h"

namespace hutch::guest {

// The kernel's own files: nobody can grant them, and what is read-only there is so for everybody.
bool is_of_kernel(std::string_view path);

// Of a directory of hutch's own on the way to what is shown.
inline constexpr mode_t kPassedThroughMode = 0111;

// The path of the sandbox that the call would change if the mounts were not as they are. Absent: the caller may not
// change it anyway, or the kernel makes the change, or answers with an error that says nothing of hutch.
struct KeptPlace {
  std::string path;
  plan::NameIs name = plan::NameIs::kThere;
};
std::optional<KeptPlace> kept_by_mount(const Places& places, const AccessCall& call);

// The error that the call gets outside of the sandbox as well, such as ENOTEMPTY of rmdir(2), as long as it has not
// been made; 0: none is sure. hutch does not report such a call: git tries rmdir(".git") and ignores the error.
int error_outside(const Places& places, const AccessCall& call);

}  // namespace hutch::guest
