// How hutch's own programs set their umask(2), so that a filter can tell.
#pragma once

#include <cstdint>

namespace hutch {

// Above the nine bits that the kernel takes of the argument. The filter of a sandbox lets such a call go to the kernel:
// the guest makes it for the command, and would start the supervisor of file changes by it, which most commands do not
// need. The supervisor reads a process's umask with its first change. A program of the sandbox that makes such a call
// later may be given files with its earlier umask.
inline constexpr std::uint32_t kOwnUmask = 0x48550000;
inline constexpr std::uint32_t kUmaskBits = 0777;

}  // namespace hutch
