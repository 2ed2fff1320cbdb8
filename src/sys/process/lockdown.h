// Walls that a process builds round itself: Landlock and seccomp. landlock(7), seccomp(2).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::sys {

// The kernel's Landlock version, 0 where it has none or it is switched off. Any other answer is an error: a wall that
// is there must not be left out.
Result<int> landlock_abi();

// Confines this process and all that it starts: reading and executing beneath `readable`, everything beneath
// `writable`. Does nothing where the kernel has no Landlock (abi 0).
// With kWithin signals reach what it starts alone; with kOfNamespace whatever is in its pid namespace, as without
// Landlock.
enum class SignalScope { kWithin, kOfNamespace };
Status enter_landlock(int abi, const std::vector<std::string>& readable, const std::vector<std::string>& writable,
                      SignalScope signals = SignalScope::kWithin);

// Gives up the effective and permitted capabilities. The bounding set stays: no exec may follow that gives any
// (sys::no_new_privileges). Unlike sys::drop_capabilities() it needs no CAP_SETPCAP.
Status give_up_capabilities();

enum class Listener { kNone, kWanted };

// Installs a filter program (struct sock_filter, `instructions` of them) for good. With kWanted the result is the
// descriptor on which calls that the program answers with USER_NOTIF arrive.
Result<std::optional<UniqueFd>> install_filter(const void* instructions, std::size_t count, Listener listener);

}  // namespace hutch::sys
