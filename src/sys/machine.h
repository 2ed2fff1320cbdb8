// What only the first process of a machine of its own does. finit_module(2), mount(2), chroot(2), reboot(2).
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::sys {

// One that the kernel has already is no error.
Status load_module(const std::string& path);

// The current directory, the root of a mount, becomes "/" over the kernel's first file system, which nothing can be
// pivoted from (pivot_root(2)).
Status move_root_to_cwd();

// A device, for reading and writing, that never waits.
Result<UniqueFd> open_device(const std::string& path);

// The loopback interface of this network namespace goes up.
Status raise_loopback();

// Children that end are not waited for by anybody.
Status forget_children();

// All that was written reaches the disks, and the machine is off.
[[noreturn]] void power_off();

}  // namespace hutch::sys
