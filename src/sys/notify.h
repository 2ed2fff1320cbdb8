// Calls that wait for another process's word: seccomp_unotify(2).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::sys {

struct Notification {
  std::uint64_t id = 0;
  std::uint32_t pid = 0;  // the thread, as the reader's pid namespace numbers it; 0: it is not of it
  int syscall = 0;
  std::array<std::uint64_t, 6> arguments{};
};

// The next call that waits on a listener; absent when its process went away meanwhile.
Result<std::optional<Notification>> receive_notification(int listener);

// A caller that has gone meanwhile is no error in any of these.

// The call fails with `error` (an errno value).
Status refuse_notification(int listener, std::uint64_t id, int error);
// The call answers `value`, which is not negative.
Status answer_notification(int listener, std::uint64_t id, std::int64_t value = 0);
// The kernel makes the call after all. It reads the caller's memory anew: nothing that was read here holds.
Status continue_notification(int listener, std::uint64_t id);
// The call answers with a descriptor that the caller gets. A caller that can have no more fails with EMFILE.
enum class OnExec { kKeep, kClose };
Status answer_with_descriptor(int listener, std::uint64_t id, int descriptor, OnExec on_exec);

// Whether the caller still waits. While it does, its number is no other's.
bool still_waits(int listener, std::uint64_t id);

// Caller and reader run in turn on one processor (SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP, Linux 6.6). Without it all is as
// before, and slower.
void wake_in_turn(int listener);

}  // namespace hutch::sys
