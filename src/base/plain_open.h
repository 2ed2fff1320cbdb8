// How hutch's own programs open a file for reading with openat2(2), so that a filter can tell.
#pragma once

#include <cstdint>

namespace hutch {

// The size that is given for openat2(2)'s argument, which is zeros beyond what a kernel knows of it. Its flags are in
// memory, where no filter sees them; the size is in a register. A call with this size always goes to the kernel, to
// which the mounts of a sandbox are read-only wherever the supervisor of file changes makes changes: whoever uses it
// gets what a call for reading gets, and no more.
inline constexpr std::uint32_t kPlainOpenBytes = 64;

}  // namespace hutch
