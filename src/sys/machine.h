// What only the first process of a machine of its own does. finit_module(2), mount(2), chroot(2), reboot(2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ip_address.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::sys {

// One that the kernel has already is no error.
Status load_module(const std::string& path);
// What of one was read: init_module(2).
Status load_module_image(std::string_view bytes);

// The current directory, the root of a mount, becomes "/" over the kernel's first file system, which nothing can be
// pivoted from (pivot_root(2)).
Status move_root_to_cwd();

// A device, for reading and writing, that never waits.
Result<UniqueFd> open_device(const std::string& path);

// The loopback interface of this network namespace goes up.
Status raise_loopback();

// An Ethernet interface of this network namespace goes up with an address of a /24, and a default route by `router`.
// Code::kNotFound where there is no such interface. netdevice(7).
Status raise_interface(const std::string& name, const IpAddress& address, const IpAddress& router);

// The machine's clock; nanoseconds since the epoch. clock_settime(2).
Status set_clock(std::int64_t nanoseconds);

// Hexadecimal digits that nobody else knows go into the kernel's random numbers, which begin anew from it. random(4).
Status renew_randomness(std::string_view entropy);

// Children that end are not waited for by anybody.
Status forget_children();

// All that was written reaches the disks.
void flush_disks();

// The same, and the machine is off.
[[noreturn]] void power_off();

}  // namespace hutch::sys
