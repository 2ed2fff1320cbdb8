// Runs the compiled seccomp programs against every row of the table and against what attackers try on filters.
#include "plan/filter/seccomp.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/plain_open.h"
#include "plan/filter/bpf_evaluator_testing.h"
#include "plan/filter/seccomp_table.h"

namespace hutch::plan {
namespace {

constexpr std::uint32_t kAuditX86_64 = 0xc000003e;
constexpr std::uint32_t kAuditI386 = 0x40000003;
constexpr std::uint32_t kAuditAarch64 = 0xc00000b7;
constexpr std::uint32_t kAuditArm = 0x40000028;

constexpr std::uint32_t kAllow = 0x7fff0000;
constexpr std::uint32_t kKill = 0x80000000;
constexpr std::uint32_t kNotify = 0x7fc00000;
constexpr std::uint32_t kPerm = 0x00050000 | 1;
constexpr std::uint32_t kAccess = 0x00050000 | 13;
constexpr std::uint32_t kNoSys = 0x00050000 | 38;
constexpr std::uint32_t kNotSupported = 0x00050000 | 95;
constexpr std::uint32_t kDoneAlready = 0x00050000;
constexpr std::uint32_t kNoFamily = 0x00050000 | 97;

constexpr unsigned long long kJunk = 0xdeadbeef00000000;

using Arguments = std::array<std::uint64_t, 6>;

std::uint32_t audit(Architecture architecture) {
  return architecture == Architecture::kX86_64 ? kAuditX86_64 : kAuditAarch64;
}

struct Filter {
  explicit Filter(SeccompProfile profile) : profile_(profile), program_(compile_seccomp(profile)) {}

  bpf::Verdict run(std::int32_t number, const Arguments& arguments = {}) const {
    return bpf::evaluate(program_, {number, audit(profile_.architecture), 0x401000, arguments});
  }
  std::uint32_t action(std::int32_t number, const Arguments& arguments = {}) const {
    return run(number, arguments).action;
  }

  SeccompProfile profile_;
  bpf::Program program_;
};

// The numbers that the tests below use, by architecture.
struct Numbers {
  std::int32_t clone, unshare, ioctl, mknodat, socket, socketpair, personality, prctl, openat, ptrace, seccomp,
      fchmodat, connect, bind;
};
constexpr Numbers kX86 = {56, 272, 16, 259, 41, 53, 135, 157, 257, 101, 317, 268, 42, 49};
constexpr Numbers kArm = {220, 97, 29, 33, 198, 199, 92, 167, 56, 117, 277, 53, 203, 200};

class Seccomp : public testing::TestWithParam<Architecture> {
 protected:
  Filter filter(AfUnix af_unix = AfUnix::kRefuse) const { return Filter({GetParam(), af_unix}); }
  const Numbers& numbers() const { return GetParam() == Architecture::kX86_64 ? kX86 : kArm; }
};

INSTANTIATE_TEST_SUITE_P(Architectures, Seccomp, testing::Values(Architecture::kX86_64, Architecture::kAarch64),
                         [](const auto& tested) {
                           return tested.param == Architecture::kX86_64 ? "x86_64" : "aarch64";
                         });

TEST_P(Seccomp, KernelWouldTakeIt) {
  for (const AfUnix af_unix : {AfUnix::kNotify, AfUnix::kSupervised, AfUnix::kRefuse, AfUnix::kAllow}) {
    const Filter tested = filter(af_unix);
    const Status valid = bpf::validate(tested.program_);
    EXPECT_TRUE(valid) << valid.error().message;
    EXPECT_LT(tested.program_.size(), 512u);
  }
}

TEST_P(Seccomp, EveryRowWithoutClauses) {
  const Filter tested = filter();
  std::set<std::string_view> names;
  for (const CallRule& rule : call_rules()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name << " twice";
    EXPECT_FALSE(rule.reason.empty()) << rule.name;
    if (!rule.clauses.empty() || rule.number(GetParam()) == CallRule::kAbsent) continue;
    const std::uint32_t expected = rule.otherwise == CallOutcome::kPerm             ? kPerm
                                   : rule.otherwise == CallOutcome::kNoSys          ? kNoSys
                                   : rule.otherwise == CallOutcome::kFileChange     ? kAllow
                                   : rule.otherwise == CallOutcome::kOwnerChange    ? kAllow
                                   : rule.otherwise == CallOutcome::kUnixAddress    ? kAllow
                                   : rule.otherwise == CallOutcome::kFileLook       ? kAllow
                                   : rule.otherwise == CallOutcome::kPastSupervisor ? kAllow
                                   : rule.otherwise == CallOutcome::kUnmappedMemory ? kAllow
                                                                                    : kNotSupported;
    EXPECT_EQ(tested.action(rule.number(GetParam())), expected) << rule.name;
    EXPECT_EQ(tested.action(rule.number(GetParam()), {~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull}), expected)
        << rule.name;
  }
}

TEST_P(Seccomp, ChangesOfFilesGoToTheSupervisorWhereThereIsOne) {
  const Filter tested({GetParam(), AfUnix::kNotify, FileChanges::kNotify});
  unsigned changes = 0;
  for (const CallRule& rule : call_rules()) {
    if (rule.otherwise != CallOutcome::kFileChange) continue;
    if (rule.number(GetParam()) == CallRule::kAbsent) continue;
    EXPECT_EQ(tested.action(rule.number(GetParam())), kNotify) << rule.name;
    ++changes;
  }
  EXPECT_GE(changes, 17u);
  const auto opened = [&](std::uint64_t flags) { return tested.action(numbers().openat, {0, 0, flags, 0, 0, 0}); };
  for (const std::uint64_t flags : {0ull, 02000000ull, 0200000ull, 010000000ull, kJunk}) {  // CLOEXEC DIRECTORY PATH
    EXPECT_EQ(opened(flags), kAllow) << flags;
  }
  for (const std::uint64_t flags : {01ull, 02ull, 03ull, 0100ull, 01000ull, 0102 | kJunk}) {
    EXPECT_EQ(opened(flags), kNotify) << flags;
  }
  EXPECT_EQ(tested.action(numbers().mknodat, {0, 0, 0100644, 0, 0, 0}), kNotify);
  const auto opened2 = [&](std::uint64_t size) { return tested.action(437, {0, 0, 0, size, 0, 0}); };
  for (const std::uint64_t size : {0ull, 24ull, 32ull, 63ull, 65ull, 4096ull})
    EXPECT_EQ(opened2(size), kNotify) << size;
  EXPECT_EQ(opened2(kPlainOpenBytes), kAllow);
  EXPECT_EQ(tested.action(numbers().mknodat, {0, 0, 0020644, 0, 0, 0}), kPerm);
  EXPECT_LT(tested.program_.size(), 1024u);
}

// The filter is the wall behind a supervisor of file changes. If there is none, the filter is the only wall, except for
// packages.
TEST_P(Seccomp, NoFileGetsRightsWhereChangesAreSupervised) {
  const bool x86 = GetParam() == Architecture::kX86_64;
  const Filter supervised({GetParam(), AfUnix::kSupervised, FileChanges::kNotify});
  const Filter plain({GetParam(), AfUnix::kNotify});
  const Filter alone({.architecture = GetParam(), .af_unix = AfUnix::kNotify, .set_ids = SetIds::kRefuse});
  struct Call {
    std::int32_t number;
    Arguments arguments;
    unsigned mode;
  };
  std::vector<Call> makes = {{x86 ? 257 : 56, {0, 0, 0100 | 1}, 3},  // openat, O_CREAT | O_WRONLY
                             {x86 ? 257 : 56, {0, 0, 0100}, 3},  // O_CREAT
                             {x86 ? 257 : 56, {0, 0, 020200000 | 2}, 3},  // O_TMPFILE | O_RDWR
                             {x86 ? 259 : 33, {}, 2}};  // mknodat
  std::vector<Call> changes = {{x86 ? 91 : 52, {}, 1}, {x86 ? 268 : 53, {}, 2}, {452, {}, 2}};
  if (x86) makes.insert(makes.end(), {{2, {0, 0101}, 2}, {85, {}, 1}, {133, {}, 1}});
  if (x86) changes.push_back({90, {}, 1});
  const auto with = [](const Call& call, std::uint64_t mode) {
    Arguments arguments = call.arguments;
    arguments[call.mode] = kJunk | mode;
    return arguments;
  };
  for (const auto& calls : {makes, changes}) {
    for (const Call& call : calls) {
      for (const std::uint64_t mode : {04755U, 04000U, 06755U}) {
        EXPECT_EQ(supervised.action(call.number, with(call, mode)), kPerm) << call.number;
        EXPECT_EQ(plain.action(call.number, with(call, mode)), kAllow) << call.number;
        EXPECT_EQ(alone.action(call.number, with(call, mode)), kPerm) << call.number;
      }
      EXPECT_EQ(alone.action(call.number, with(call, 02755)), kPerm) << "the filter knows no directories";
      EXPECT_EQ(alone.action(call.number, with(call, 01777)), kAllow) << call.number;
      EXPECT_EQ(supervised.action(call.number, with(call, 01777)), kNotify) << call.number;
    }
  }
  // A directory may have S_ISGID: the supervisor tells files and directories apart.
  for (const Call& call : makes) EXPECT_EQ(supervised.action(call.number, with(call, 02755)), kPerm) << call.number;
  for (const Call& call : changes) EXPECT_EQ(supervised.action(call.number, with(call, 02755)), kNotify) << call.number;
  EXPECT_EQ(alone.action(437, {0, 0, 0, 24}), kNoSys) << "openat2: its mode is in memory";
  EXPECT_EQ(alone.action(437, {0, 0, 0, kPlainOpenBytes}), kAllow);
  EXPECT_EQ(plain.action(437, {0, 0, 0, 24}), kAllow);
  // If O_CREAT is not set, the register holds no mode, so any value passes.
  EXPECT_EQ(supervised.action(x86 ? 257 : 56, {0, 0, 0, 06755, 0, 0}), kAllow);
  EXPECT_EQ(supervised.action(x86 ? 257 : 56, {0, 0, 1, 06755, 0, 0}), kNotify);
}

TEST_P(Seccomp, OwnersAreChangedPretendedOrTheSupervisors) {
  const bool x86 = GetParam() == Architecture::kX86_64;
  const std::vector<std::int32_t> calls =
      x86 ? std::vector<std::int32_t>{92, 93, 94, 260} : std::vector<std::int32_t>{54, 55};
  const Filter plain({GetParam(), AfUnix::kNotify});
  const Filter supervised({GetParam(), AfUnix::kNotify, FileChanges::kNotify});
  const Filter pretended({GetParam(), AfUnix::kNotify, FileChanges::kAllow, FileLooks::kAllow, Owners::kPretended});
  for (const std::int32_t call : calls) {
    EXPECT_EQ(plain.action(call), kAllow) << call;
    EXPECT_EQ(supervised.action(call), kNotify) << call;
    EXPECT_EQ(pretended.action(call), kDoneAlready) << call;
  }
  // Modes and identities are what they are.
  const std::int32_t mode = x86 ? 91 : 52;
  const std::int32_t identity = x86 ? 105 : 146;
  for (const std::int32_t call : {mode, identity}) EXPECT_EQ(pretended.action(call), kAllow) << call;
}

TEST_P(Seccomp, LooksAtFilesWaitWhereTheyMayBeAskedAbout) {
  const Filter tested({GetParam(), AfUnix::kNotify, FileChanges::kNotify, FileLooks::kNotify});
  unsigned looks = 0;
  for (const CallRule& rule : call_rules()) {
    if (rule.otherwise != CallOutcome::kFileLook || rule.number(GetParam()) == CallRule::kAbsent) continue;
    EXPECT_EQ(tested.action(rule.number(GetParam())), kNotify) << rule.name;
    ++looks;
  }
  EXPECT_GE(looks, 8u);
  // fstat(3) of the C library is about a descriptor.
  const int newfstatat = GetParam() == Architecture::kX86_64 ? 262 : 79;
  EXPECT_EQ(tested.action(newfstatat, {3, 0, 0, 0x1000, 0, 0}), kAllow);
  EXPECT_EQ(tested.action(newfstatat, {3, 0, 0, 0x100, 0, 0}), kNotify);
  EXPECT_LT(tested.program_.size(), 1024u);
}

TEST_P(Seccomp, EveryOtherCallIsAllowed) {
  const Filter tested = filter();
  std::set<std::int32_t> named;
  for (const CallRule& rule : call_rules()) named.insert(rule.number(GetParam()));
  for (std::int32_t number = 0; number <= static_cast<std::int32_t>(kNewestCall); ++number) {
    if (named.contains(number)) continue;
    EXPECT_EQ(tested.action(number), kAllow) << number;
  }
  for (const std::int32_t number : {numbers().openat, numbers().ptrace, numbers().seccomp, numbers().fchmodat}) {
    EXPECT_EQ(tested.action(number, {~0ull, ~0ull, 04755, 8, 0, 0}), kAllow) << number;
  }
}

TEST_P(Seccomp, CallsOfTheFutureAreAbsent) {
  const Filter tested = filter(AfUnix::kAllow);
  for (const std::int32_t number : {470, 471, 500, 512, 547, 1000, 0x3fffffff, -1}) {
    EXPECT_EQ(tested.action(number), kNoSys) << number;
  }
}

TEST_P(Seccomp, CallsOfOtherArchitecturesKill) {
  const Filter tested = filter(AfUnix::kAllow);
  for (const std::uint32_t architecture : {kAuditI386, kAuditArm, 0u, ~0u, audit(GetParam()) ^ 1}) {
    for (const std::int32_t number : {0, 1, 5, 60, 120, 252, 425, 1000}) {
      EXPECT_EQ(bpf::evaluate(tested.program_, {number, architecture, 0, {}}).action, kKill) << number;
    }
  }
}

TEST_P(Seccomp, CommonCallsAreCheap) {
  const Filter tested = filter();
  std::set<std::int32_t> named;
  for (const CallRule& rule : call_rules()) named.insert(rule.number(GetParam()));
  for (std::int32_t number = 0; number <= static_cast<std::int32_t>(kNewestCall); ++number) {
    EXPECT_LE(tested.run(number).steps, named.contains(number) ? 24u : 14u) << number;
  }
}

TEST_P(Seccomp, NoNewNamespaces) {
  const Filter tested = filter();
  constexpr std::uint64_t kThread = 0x003d0f00;  // what pthread_create asks for
  constexpr std::uint64_t kFork = 0x01200011;  // what fork asks for
  for (const std::uint64_t flags : {kThread, kFork, std::uint64_t{0x4111}, std::uint64_t{17}, std::uint64_t{0x80}}) {
    EXPECT_EQ(tested.action(numbers().clone, {flags}), kAllow) << std::hex << flags;
    EXPECT_EQ(tested.action(numbers().clone, {flags | kJunk}), kAllow) << std::hex << flags;
  }
  for (const std::uint64_t flag :
       {0x00020000ull, 0x02000000ull, 0x04000000ull, 0x08000000ull, 0x10000000ull, 0x20000000ull, 0x40000000ull}) {
    for (const std::uint64_t junk : {0ull, kJunk}) {
      EXPECT_EQ(tested.action(numbers().clone, {flag | 17 | junk}), kPerm) << std::hex << flag;
      EXPECT_EQ(tested.action(numbers().unshare, {flag | junk}), kPerm) << std::hex << flag;
      EXPECT_EQ(tested.action(numbers().unshare, {flag | 0x400 | junk}), kPerm) << std::hex << flag;
    }
  }
  EXPECT_EQ(tested.action(numbers().unshare, {0x80}), kPerm);  // CLONE_NEWTIME
  for (const std::uint64_t flag : {0x0ull, 0x100ull, 0x200ull, 0x400ull, 0x800ull, 0x10000ull, 0x40000ull}) {
    EXPECT_EQ(tested.action(numbers().unshare, {flag}), kAllow) << std::hex << flag;
  }
  // A long: bits of its high half are flags as well, of which none is known to be harmless.
  EXPECT_EQ(tested.action(numbers().unshare, {0x400 | kJunk}), kPerm);
  EXPECT_EQ(tested.action(numbers().unshare, {1ull << 32}), kPerm);
  EXPECT_EQ(tested.action(435), kNoSys);  // clone3
}

TEST_P(Seccomp, TerminalsAreNotTypedInto) {
  const Filter tested = filter();
  for (const std::uint64_t command : {0x5412ull, 0x541cull, 0x5423ull}) {
    EXPECT_EQ(tested.action(numbers().ioctl, {0, command}), kPerm);
    EXPECT_EQ(tested.action(numbers().ioctl, {kJunk, command | kJunk, ~0ull}), kPerm);
  }
  for (const std::uint64_t command : {0x5401ull, 0x5402ull, 0x5413ull, 0x5421ull, 0x541bull, 0x12345412ull}) {
    EXPECT_EQ(tested.action(numbers().ioctl, {0x5412, command, 0x5412}), kAllow) << std::hex << command;
  }
}

TEST_P(Seccomp, NoDevices) {
  const Filter tested = filter();
  for (const std::uint64_t mode : {0020666ull, 0060660ull, 0024777ull}) {
    EXPECT_EQ(tested.action(numbers().mknodat, {0, 0, mode}), kPerm) << std::oct << mode;
    // mode is an unsigned short to the kernel: neither the high half nor bits 16 to 31 may change the answer.
    EXPECT_EQ(tested.action(numbers().mknodat, {0, 0, mode | kJunk | 0xabcd0000}), kPerm) << std::oct << mode;
  }
  for (const std::uint64_t mode : {0666ull, 0100644ull, 0010600ull, 0140777ull}) {
    EXPECT_EQ(tested.action(numbers().mknodat, {0, 0, mode | kJunk}), kAllow) << std::oct << mode;
  }
  if (GetParam() != Architecture::kX86_64) return;
  EXPECT_EQ(tested.action(133, {0, 0020666, 0}), kPerm);
  EXPECT_EQ(tested.action(133, {0, 0060666 | kJunk, 0}), kPerm);
  EXPECT_EQ(tested.action(133, {0, 0010666, 0020666}), kAllow);
}

TEST_P(Seccomp, SocketFamilies) {
  const Filter tested = filter();
  for (const std::uint64_t type : {1ull, 2ull, 0x80001ull, 0x80802ull}) {
    EXPECT_EQ(tested.action(numbers().socket, {2, type}), kAllow);
    EXPECT_EQ(tested.action(numbers().socket, {10 | kJunk, type | kJunk}), kAllow);
  }
  EXPECT_EQ(tested.action(numbers().socket, {2, 10}), kNoFamily);  // SOCK_PACKET
  EXPECT_EQ(tested.action(numbers().socket, {2 | kJunk, 0x8000a | kJunk}), kNoFamily);
  for (std::uint64_t family = 0; family < 64; ++family) {
    if (family == 1 || family == 2 || family == 10 || family == 16) continue;
    EXPECT_EQ(tested.action(numbers().socket, {family, 1}), kNoFamily) << family;
    EXPECT_EQ(tested.action(numbers().socket, {family | kJunk, 1}), kNoFamily) << family;
  }
  EXPECT_EQ(tested.action(numbers().socket, {16, 3, 0}), kAllow);
  EXPECT_EQ(tested.action(numbers().socket, {16 | kJunk, 2, 0 | kJunk}), kAllow);
  for (std::uint64_t protocol = 1; protocol < 32; ++protocol) {
    EXPECT_EQ(tested.action(numbers().socket, {16, 3, protocol}), kNoFamily) << protocol;
  }
}

TEST_P(Seccomp, UnixSocketsByProfile) {
  const Filter refuse = filter(AfUnix::kRefuse);
  const Filter notify = filter(AfUnix::kNotify);
  const Filter allow = filter(AfUnix::kAllow);
  for (const std::uint64_t family : {1ull, 1 | kJunk}) {
    for (const std::uint64_t type : {1ull, 2ull, 3ull, 5ull, 0x80801ull, kJunk | 2}) {
      EXPECT_EQ(refuse.action(numbers().socket, {family, type}), kAccess);
      EXPECT_EQ(notify.action(numbers().socket, {family, type}), kNotify);
      EXPECT_EQ(allow.action(numbers().socket, {family, type}), kAllow);
    }
  }
}

TEST_P(Seccomp, UnixStreamsAreMadeWhereTheSupervisorConnectsThem) {
  const Filter tested = filter(AfUnix::kSupervised);
  for (const std::uint64_t family : {1ull, 1 | kJunk}) {
    for (const std::uint64_t type : {1ull, 5ull, 0x80801ull, kJunk | 0x80005}) {
      EXPECT_EQ(tested.action(numbers().socket, {family, type}), kAllow) << type;
    }
    for (const std::uint64_t type : {0ull, 2ull, 3ull, 4ull, 10ull, 0x80802ull, kJunk | 2}) {
      EXPECT_EQ(tested.action(numbers().socket, {family, type}), kNotify) << type;
    }
  }
  for (const std::int32_t number : {numbers().connect, numbers().bind}) {
    EXPECT_EQ(tested.action(number, {3, 0x1000, 110}), kNotify);
    EXPECT_EQ(filter(AfUnix::kNotify).action(number, {3, 0x1000, 110}), kAllow);
  }
}

TEST_P(Seccomp, SocketPairsReachEachOtherAlone) {
  for (const AfUnix af_unix : {AfUnix::kRefuse, AfUnix::kNotify, AfUnix::kSupervised}) {
    const Filter tested = filter(af_unix);
    for (const std::uint64_t type : {1ull, 5ull, 0x80801ull, 0x80005ull}) {
      EXPECT_EQ(tested.action(numbers().socketpair, {1, type}), kAllow) << type;
      EXPECT_EQ(tested.action(numbers().socketpair, {1 | kJunk, type | kJunk}), kAllow) << type;
    }
    // Datagrams, and SOCK_RAW which AF_UNIX takes for them.
    for (const std::uint64_t type : {2ull, 3ull, 0x80002ull, 0x80803ull, kJunk | 2}) {
      EXPECT_EQ(tested.action(numbers().socketpair, {1, type}), kAccess) << type;
    }
    EXPECT_EQ(tested.action(numbers().socketpair, {30, 1}), kNoFamily);  // AF_TIPC has pairs too
  }
  EXPECT_EQ(filter(AfUnix::kAllow).action(numbers().socketpair, {1, 2}), kAllow);
}

TEST_P(Seccomp, OrdinaryPersonalitiesAlone) {
  const Filter tested = filter();
  for (const std::uint64_t value : {0x0ull, 0x8ull, 0x20000ull, 0x20008ull, 0x40000ull, 0x40008ull, 0xffffffffull}) {
    EXPECT_EQ(tested.action(numbers().personality, {value}), kAllow) << std::hex << value;
    EXPECT_EQ(tested.action(numbers().personality, {value | kJunk}), kAllow) << std::hex << value;
  }
  for (const std::uint64_t value : {0x400000ull, 0x100000ull, 0x440000ull, 0xfffffffeull, 0x1ull}) {
    EXPECT_EQ(tested.action(numbers().personality, {value}), kPerm) << std::hex << value;
  }
}

TEST_P(Seccomp, NoLeasesAndNoWhiteouts) {
  const bool x86 = GetParam() == Architecture::kX86_64;
  const Filter tested = filter();
  const auto fcntl = [&](std::uint64_t command) { return tested.action(x86 ? 72 : 25, {3, command, 0, 0, 0, 0}); };
  for (const std::uint64_t command : {1024ull, 1040ull, 1024 | kJunk}) EXPECT_EQ(fcntl(command), kAccess) << command;
  for (const std::uint64_t command : {0ull, 1ull, 2ull, 3ull, 4ull, 6ull, 1025ull, 1030ull, 1031ull, 1033ull}) {
    EXPECT_EQ(fcntl(command), kAllow) << command;
  }
  const auto rename = [&](std::uint64_t flags) { return tested.action(x86 ? 316 : 276, {0, 0, 0, 0, flags, 0}); };
  for (const std::uint64_t flags : {4ull, 5ull, 4 | kJunk}) EXPECT_EQ(rename(flags), kPerm) << flags;
  for (const std::uint64_t flags : {0ull, 1ull, 2ull}) EXPECT_EQ(rename(flags), kAllow) << flags;
}

TEST_P(Seccomp, UnmappedMemoryIsRefusedWhereNothingElseBoundsIt) {
  const bool x86 = GetParam() == Architecture::kX86_64;
  const Filter refuses({.architecture = GetParam(), .unmapped_memory = UnmappedMemory::kRefuse});
  const int segment = x86 ? 29 : 194;
  for (const int call : {x86 ? 319 : 279, 447}) {
    EXPECT_EQ(refuses.action(call), kNoSys) << call;
    EXPECT_EQ(filter().action(call), kAllow) << call;
  }
  for (const std::uint64_t size : {0x1000ull, 1ull << 32, ~0ull}) {
    EXPECT_EQ(refuses.action(segment, {0, size, 0, 0, 0, 0}), kNoSys) << size;
    EXPECT_EQ(filter().action(segment, {0, size, 0, 0, 0, 0}), kAllow) << size;
  }
  for (const std::uint64_t size : {0ull, 56ull, 0xfffull}) {
    EXPECT_EQ(refuses.action(segment, {0, size, 0, 0, 0, 0}), kAllow) << size;
  }
}

TEST_P(Seccomp, PrctlButForMemoryMaps) {
  const Filter tested = filter();
  EXPECT_EQ(tested.action(numbers().prctl, {35, 6}), kPerm);
  EXPECT_EQ(tested.action(numbers().prctl, {35 | kJunk, 14}), kPerm);
  for (const std::uint64_t option : {1ull, 4ull, 15ull, 22ull, 36ull, 38ull, 0x53564d41ull}) {
    EXPECT_EQ(tested.action(numbers().prctl, {option, 35}), kAllow) << option;
  }
}

// It is told what to do by a machine, and its process is a person's.
TEST(SeccompFileServer, ChangesItsRootAndGivesNoRights) {
  const Filter serving({.architecture = Architecture::kX86_64, .af_unix = AfUnix::kNotify, .serving = Serving::kFiles});
  EXPECT_TRUE(bpf::validate(serving.program_));
  EXPECT_EQ(serving.action(161), kAllow);  // chroot
  EXPECT_EQ(Filter({Architecture::kX86_64, AfUnix::kNotify}).action(161), kPerm);
  struct Call {
    std::int32_t number;
    unsigned mode;
  };
  // open, openat, creat, mkdir, mkdirat, mknod, mknodat, chmod, fchmod, fchmodat, fchmodat2
  for (const Call& call : {Call{2, 2}, Call{257, 3}, Call{85, 1}, Call{83, 1}, Call{258, 2}, Call{133, 1}, Call{259, 2},
                           Call{90, 1}, Call{91, 1}, Call{268, 2}, Call{452, 2}}) {
    for (const std::uint64_t mode : {04755U, 02755U, 06000U}) {
      Arguments arguments{};
      arguments[call.mode] = kJunk | mode;
      EXPECT_EQ(serving.action(call.number, arguments), kPerm) << call.number;
    }
    Arguments arguments{};
    arguments[call.mode] = 01777;
    EXPECT_EQ(serving.action(call.number, arguments), kAllow) << call.number;
  }
  EXPECT_EQ(serving.action(437, {0, 0, 0, 24}), kNoSys) << "openat2: its mode is in memory";
  EXPECT_EQ(serving.action(437, {0, 0, 0, kPlainOpenBytes}), kAllow);
  EXPECT_EQ(serving.action(165), kPerm) << "mount: all else is as for others";
  EXPECT_EQ(serving.action(0), kAllow);
}

// A person cannot give up supplementary groups in their user namespace, and virtiofsd ends if it cannot.
TEST(SeccompFileServer, PretendsToChangeGroupsForAPerson) {
  for (const Architecture architecture : {Architecture::kX86_64, Architecture::kAarch64}) {
    const std::int32_t setgroups = architecture == Architecture::kX86_64 ? 116 : 159;
    const auto action = [&](Serving serving) {
      return Filter({.architecture = architecture, .af_unix = AfUnix::kNotify, .serving = serving}).action(setgroups);
    };
    EXPECT_EQ(action(Serving::kFilesOfPerson), kPerm - 1) << "errno 0";
    EXPECT_EQ(action(Serving::kFiles), kAllow);
    EXPECT_EQ(action(Serving::kNothing), kAllow);
  }
  const Filter serving(
      {.architecture = Architecture::kX86_64, .af_unix = AfUnix::kNotify, .serving = Serving::kFilesOfPerson});
  EXPECT_TRUE(bpf::validate(serving.program_));
  EXPECT_EQ(serving.action(161), kAllow) << "chroot";
  EXPECT_EQ(serving.action(90, {0, 04755}), kPerm) << "chmod";
  EXPECT_EQ(serving.action(165), kPerm) << "mount";
}

TEST(SeccompX32, Kills) {
  const Filter tested({Architecture::kX86_64, AfUnix::kAllow});
  for (const std::uint32_t number : {0u, 1u, 41u, 257u, 435u, 512u, 545u, 0x3ffffffdu}) {
    EXPECT_EQ(tested.action(static_cast<std::int32_t>(0x40000000u | number)), kKill) << number;
  }
  EXPECT_EQ(tested.action(static_cast<std::int32_t>(0xfffffffe)), kKill);
}

TEST(SeccompNames, OfMachines) {
  EXPECT_EQ(architecture_of("x86_64"), Architecture::kX86_64);
  EXPECT_EQ(architecture_of("aarch64"), Architecture::kAarch64);
  for (const char* other : {"", "i686", "armv7l", "riscv64", "x86"}) EXPECT_FALSE(architecture_of(other)) << other;
}

}  // namespace
}  // namespace hutch::plan
