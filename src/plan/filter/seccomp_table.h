// What the seccomp program does with each system call, as data with reasons; plan/filter/seccomp.cc compiles it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "plan/filter/seccomp.h"

namespace hutch::plan {

enum class CallOutcome {
  kAllow,
  kPerm,            // EPERM
  kAccess,          // EACCES
  kNoSys,           // ENOSYS: as a kernel without the call; chosen where programs then take another way
  kNotSupported,    // EOPNOTSUPP
  kNoFamily,        // EAFNOSUPPORT
  kUnixSocket,      // as the profile says
  kUnixDatagramSocket,  // likewise: where the others are supervised, whoever listens refuses it
  kUnixDatagrams,   // allowed where the profile allows AF_UNIX, else EACCES
  kUnixAddress,     // asked about where Unix sockets are supervised
  kFileChange,      // as the profile says
  kOwnerChange,     // as kFileChange, but where the profile pretends: 0, and nothing is done
  kFileLook,        // likewise
  kGivesRights,     // EPERM where a supervisor makes changes of files, or the profile refuses S_ISUID and S_ISGID
  kGivesGroup,  // asked about where changes of files are supervised, EPERM where the profile refuses, else allowed
  kHiddenMode,  // as kGivesGroup, but ENOSYS: the mode is in memory
  kPastSupervisor,  // ENOSYS where a supervisor makes changes of files: the call changes a file and asks no supervisor
  kUnmappedMemory,  // ENOSYS where rlimits hold the limit of memory, else allowed
  kFileFlags,  // EOPNOTSUPP where a supervisor makes changes of files: as a file system without such flags
  kKill,  // SECCOMP_RET_KILL_PROCESS
};

// Which 32 bits of a 64-bit register. The kernel reads an int argument from the low half alone, so that is what is
// compared; a long is read whole.
enum class Half { kLow, kHigh };

// One comparison of an argument.
struct ArgumentTest {
  enum class Kind { kEquals /* (word & mask) == value */, kAnyBit /* (word & mask) != 0 */ };
  Kind kind = Kind::kEquals;
  unsigned argument = 0;
  std::uint32_t mask = 0xffffffff;
  std::uint32_t value = 0;
  Half half = Half::kLow;
};

// All of its tests hold: the outcome.
struct CallClause {
  ArgumentTest first;
  std::optional<ArgumentTest> second;
  CallOutcome outcome = CallOutcome::kPerm;
};

// The first clause that holds decides, else `otherwise`.
struct CallRule {
  static constexpr int kAbsent = -1;  // the architecture has no such call
  std::string_view name;
  int x86_64 = kAbsent;
  int aarch64 = kAbsent;
  CallOutcome otherwise = CallOutcome::kPerm;
  std::string_view reason;
  std::span<const CallClause> clauses = {};

  int number(Architecture architecture) const { return architecture == Architecture::kX86_64 ? x86_64 : aarch64; }
};

// In no order. What is not named here is allowed up to kNewestCall.
std::span<const CallRule> call_rules();

// file_setattr(2) of Linux 6.17. A call that came later may be another way to mount or to open, and programs that
// know it know how to do without: it answers ENOSYS until somebody has looked at it and raised this number.
inline constexpr std::uint32_t kNewestCall = 469;

}  // namespace hutch::plan
