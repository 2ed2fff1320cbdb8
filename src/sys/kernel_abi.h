// Kernel constants newer than the headers of Debian 12 (linux-libc-dev 6.1).
#pragma once

#include <cstdint>

namespace hutch::sys {

// landlock(7): access rights to files by ABI version; linux/landlock.h of 6.1 stops at REFER.
inline constexpr std::uint64_t kLandlockTruncate = 1ULL << 14;  // ABI 3
inline constexpr std::uint64_t kLandlockIoctlDev = 1ULL << 15;  // ABI 5
inline constexpr std::uint64_t kLandlockScopeAbstractUnix = 1ULL << 0;  // ABI 6
inline constexpr std::uint64_t kLandlockScopeSignal = 1ULL << 1;        // ABI 6

// struct landlock_ruleset_attr as of ABI 6; an older kernel takes its leading part by the size that is passed.
struct LandlockRulesetAttr {
  std::uint64_t handled_access_fs = 0;
  std::uint64_t handled_access_net = 0;
  std::uint64_t scoped = 0;
};

// linux/seccomp.h of 6.6: SECCOMP_IOCTL_NOTIF_SET_FLAGS, _IOW('!', 4, __u64), and its one flag.
inline constexpr unsigned long kSeccompNotifSetFlags = 0x40082104;
inline constexpr unsigned long kSeccompSyncWakeUp = 1;

// linux/un.h, which cannot be included beside sys/un.h: SIOCUNIXFILE.
inline constexpr unsigned long kUnixFile = 0x89e0;

// linux/pidfd.h of 6.9: the pidfd is of one thread.
inline constexpr unsigned kPidfdThread = 0200;  // O_EXCL

}  // namespace hutch::sys
