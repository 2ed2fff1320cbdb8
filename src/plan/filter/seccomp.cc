// Compiles the table of system calls to BPF: a binary search over the numbers, then the tests of the one call.
#include "plan/filter/seccomp.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "base/check.h"
#include "base/plain_open.h"
#include "plan/filter/seccomp_table.h"

namespace hutch::plan {

namespace {

using bpf::Instruction;
using bpf::Program;

// linux/bpf_common.h
constexpr std::uint16_t kLoadWord = 0x20;     // BPF_LD | BPF_W | BPF_ABS
constexpr std::uint16_t kAnd = 0x54;          // BPF_ALU | BPF_AND | BPF_K
constexpr std::uint16_t kJump = 0x05;         // BPF_JMP | BPF_JA
constexpr std::uint16_t kJumpEqual = 0x15;    // BPF_JMP | BPF_JEQ | BPF_K
constexpr std::uint16_t kJumpAtLeast = 0x35;  // BPF_JMP | BPF_JGE | BPF_K
constexpr std::uint16_t kJumpAnyBit = 0x45;   // BPF_JMP | BPF_JSET | BPF_K
constexpr std::uint16_t kReturn = 0x06;       // BPF_RET | BPF_K
constexpr std::size_t kShortJumpMax = 255;
constexpr std::size_t kUsualLength = 1024;  // of a program, in instructions

// struct seccomp_data of linux/seccomp.h: int nr, u32 arch, u64 ip, u64 args[6]; both architectures are little-endian.
constexpr std::uint32_t kOffsetNumber = 0;
constexpr std::uint32_t kOffsetArchitecture = 4;
constexpr std::uint32_t kOffsetArguments = 16;

// linux/seccomp.h
constexpr std::uint32_t kReturnKillProcess = 0x80000000;
constexpr std::uint32_t kReturnErrno = 0x00050000;
constexpr std::uint32_t kReturnNotify = 0x7fc00000;
constexpr std::uint32_t kReturnAllow = 0x7fff0000;

// Calls of the x32 ABI come with the architecture of x86_64 and this bit (asm/unistd.h, __X32_SYSCALL_BIT). -1 is what
// a tracer writes to skip a call (ptrace(2)): nothing is called, so nothing has to be killed.
constexpr std::uint32_t kX32Bit = 0x40000000;
constexpr std::uint32_t kSkipped = 0xffffffff;

// What happens to the numbers from `first` to the next span's.
struct Span {
  std::uint32_t first = 0;
  CallOutcome outcome = CallOutcome::kAllow;
  const CallRule* rule = nullptr;  // where arguments decide
};

std::uint32_t audit_architecture(Architecture architecture);
std::vector<Span> spans_of(Architecture architecture);
void append_group_changes(Program& out, Architecture architecture);
void append_file_server(Program& out, Architecture architecture);
void search_backwards(Program& out, std::span<const Span> spans, const SeccompProfile& profile);
void leaf_backwards(Program& out, const Span& span, const SeccompProfile& profile);
void append_clause(Program& out, const CallClause& clause, const SeccompProfile& profile, const ArgumentTest*& loaded);
void append_load(Program& out, const ArgumentTest& test, const ArgumentTest* loaded);
bool same_word(const ArgumentTest& a, const ArgumentTest& b);
Instruction returns(CallOutcome outcome, const SeccompProfile& profile);
std::uint8_t short_jump(std::size_t distance);

}  // namespace

std::optional<Architecture> architecture_of(std::string_view machine) {
  if (machine == "x86_64") return Architecture::kX86_64;
  if (machine == "aarch64") return Architecture::kAarch64;
  return std::nullopt;
}

Program compile_seccomp(const SeccompProfile& profile) {
  // A call of another architecture has other numbers: none of what follows would be about it. The process ends with
  // SIGSYS, "Bad system call", which says more than the errors of a program whose every call fails.
  Program program = {
      {kLoadWord, 0, 0, kOffsetArchitecture},
      {kJumpEqual, 1, 0, audit_architecture(profile.architecture)},
      {kReturn, 0, 0, kReturnKillProcess},
      {kLoadWord, 0, 0, kOffsetNumber},
  };
  if (profile.serving == Serving::kFilesOfPerson) append_group_changes(program, profile.architecture);
  if (profile.serving != Serving::kNothing) append_file_server(program, profile.architecture);
  const std::vector<Span> spans = spans_of(profile.architecture);
  // From its end: a jump is written once what it jumps over is there.
  Program body;
  body.reserve(kUsualLength);
  search_backwards(body, spans, profile);
  program.insert(program.end(), body.rbegin(), body.rend());
  return program;
}

namespace {

std::uint32_t audit_architecture(Architecture architecture) {
  switch (architecture) {
    case Architecture::kX86_64: return 0xc000003e;   // AUDIT_ARCH_X86_64
    case Architecture::kAarch64: return 0xc00000b7;  // AUDIT_ARCH_AARCH64
  }
  CHECK(!"architecture");
  return 0;
}

std::vector<Span> spans_of(Architecture architecture) {
  std::array<const CallRule*, kNewestCall + 1> rules = {};
  for (const CallRule& rule : call_rules()) {
    if (rule.number(architecture) == CallRule::kAbsent) continue;
    const CallRule*& slot = rules.at(static_cast<std::size_t>(rule.number(architecture)));
    CHECK(slot == nullptr);
    slot = &rule;
  }
  std::vector<Span> spans;
  const auto add = [&](const Span& span) {
    const bool same = !spans.empty() && !spans.back().rule && !span.rule && spans.back().outcome == span.outcome;
    if (!same) spans.push_back(span);
  };
  for (std::uint32_t number = 0; number <= kNewestCall; ++number) {
    const CallRule* rule = rules[number];
    if (!rule)
      add({number, CallOutcome::kAllow});
    else
      add({number, rule->otherwise, rule->clauses.empty() ? nullptr : rule});
  }
  add({kNewestCall + 1, CallOutcome::kNoSys});
  if (architecture == Architecture::kX86_64) add({kX32Bit, CallOutcome::kKill});
  add({kSkipped, CallOutcome::kNoSys});
  return spans;
}

// Pretends to change groups, as Serving::kFilesOfPerson says. The call's number is loaded.
void append_group_changes(Program& out, Architecture architecture) {
  const std::uint32_t setgroups = architecture == Architecture::kX86_64 ? 116 : 159;
  out.push_back({kJumpEqual, 0, 1, setgroups});
  out.push_back({kReturn, 0, 0, kReturnErrno});
}

// Before everything else; the call's number is loaded, and is again behind it.
void append_file_server(Program& out, Architecture architecture) {
  // Which argument is a file's mode. openat2(2) has it in memory: there are only those of hutch that read.
  struct Mode {
    std::string_view call;
    unsigned argument;
  };
  static constexpr std::array kModes = {Mode{"open", 2},    Mode{"openat", 3},   Mode{"creat", 1},    Mode{"mkdir", 1},
                                        Mode{"mkdirat", 2}, Mode{"mknod", 1},    Mode{"mknodat", 2},  Mode{"chmod", 1},
                                        Mode{"fchmod", 1},  Mode{"fchmodat", 2}, Mode{"fchmodat2", 2}};
  static constexpr std::uint32_t kGivesRights = 06000;
  const auto number = [&](std::string_view name) {
    const auto rules = call_rules();
    const auto found = std::ranges::find(rules, name, &CallRule::name);
    CHECK(found != rules.end());
    return found->number(architecture);
  };
  const auto low_word = [](unsigned argument) { return kOffsetArguments + argument * 8; };
  for (const Mode& mode : kModes) {
    const int call = number(mode.call);
    if (call == CallRule::kAbsent) continue;
    out.push_back({kJumpEqual, 0, 4, static_cast<std::uint32_t>(call)});
    out.push_back({kLoadWord, 0, 0, low_word(mode.argument)});
    out.push_back({kJumpAnyBit, 0, 1, kGivesRights});
    out.push_back({kReturn, 0, 0, kReturnErrno | 1});
    out.push_back({kLoadWord, 0, 0, kOffsetNumber});
  }
  out.push_back({kJumpEqual, 0, 4, static_cast<std::uint32_t>(number("openat2"))});
  out.push_back({kLoadWord, 0, 0, low_word(3)});
  out.push_back({kJumpEqual, 1, 0, kPlainOpenBytes});
  out.push_back({kReturn, 0, 0, kReturnErrno | 38});
  out.push_back({kLoadWord, 0, 0, kOffsetNumber});
  out.push_back({kJumpEqual, 0, 1, static_cast<std::uint32_t>(number("chroot"))});
  out.push_back({kReturn, 0, 0, kReturnAllow});
}

// The kernel keeps a bitmap of the numbers that are allowed whatever the arguments, made by running the program
// without them (kernel/seccomp.c, seccomp_is_const_allow, 5.11): jumps on the number alone stay within what it follows.
void search_backwards(Program& out, std::span<const Span> spans, const SeccompProfile& profile) {
  if (spans.size() == 1) return leaf_backwards(out, spans.front(), profile);
  const std::size_t middle = spans.size() / 2;
  search_backwards(out, spans.subspan(middle), profile);
  const std::size_t had = out.size();
  search_backwards(out, spans.first(middle), profile);
  const std::size_t below = out.size() - had;
  if (below <= kShortJumpMax) {
    out.push_back({kJumpAtLeast, short_jump(below), 0, spans[middle].first});
  } else {
    out.push_back({kJump, 0, 0, static_cast<std::uint32_t>(below)});
    out.push_back({kJumpAtLeast, 0, 1, spans[middle].first});
  }
}

void leaf_backwards(Program& out, const Span& span, const SeccompProfile& profile) {
  out.push_back(returns(span.outcome, profile));
  if (!span.rule) return;
  Program clauses;
  const ArgumentTest* loaded = nullptr;
  for (const CallClause& clause : span.rule->clauses) append_clause(clauses, clause, profile, loaded);
  out.insert(out.end(), clauses.rbegin(), clauses.rend());
}

// `loaded` is the word that the accumulator holds when control comes here, null where it depends on the way.
void append_clause(Program& out, const CallClause& clause, const SeccompProfile& profile, const ArgumentTest*& loaded) {
  const auto jump_code = [](const ArgumentTest& test) {
    return test.kind == ArgumentTest::Kind::kEquals ? kJumpEqual : kJumpAnyBit;
  };
  const auto operand = [](const ArgumentTest& test) {
    return test.kind == ArgumentTest::Kind::kEquals ? test.value : test.mask;
  };
  Program rest;
  if (clause.second) {
    append_load(rest, *clause.second, nullptr);
    rest.push_back({jump_code(*clause.second), 0, 1, operand(*clause.second)});
  }
  rest.push_back(returns(clause.outcome, profile));

  append_load(out, clause.first, loaded);
  out.push_back({jump_code(clause.first), 0, short_jump(rest.size()), operand(clause.first)});
  out.insert(out.end(), rest.begin(), rest.end());
  loaded = clause.second ? nullptr : &clause.first;
}

void append_load(Program& out, const ArgumentTest& test, const ArgumentTest* loaded) {
  if (loaded && same_word(*loaded, test)) return;
  CHECK(test.argument < 6);
  out.push_back({kLoadWord, 0, 0, kOffsetArguments + 8 * test.argument + (test.half == Half::kHigh ? 4u : 0u)});
  if (test.kind == ArgumentTest::Kind::kEquals && test.mask != 0xffffffff) out.push_back({kAnd, 0, 0, test.mask});
}

// Whether the accumulator is the same after loading either; a bit test masks in its jump, not in the accumulator.
bool same_word(const ArgumentTest& a, const ArgumentTest& b) {
  const auto mask = [](const ArgumentTest& test) {
    return test.kind == ArgumentTest::Kind::kAnyBit ? 0xffffffff : test.mask;
  };
  return a.argument == b.argument && a.half == b.half && mask(a) == mask(b);
}

Instruction returns(CallOutcome outcome, const SeccompProfile& profile) {
  // The numbers of asm-generic/errno-base.h and errno.h.
  const auto fails_with = [](std::uint32_t error) { return Instruction{kReturn, 0, 0, kReturnErrno | error}; };
  const Instruction allow = {kReturn, 0, 0, kReturnAllow};
  const Instruction notify = {kReturn, 0, 0, kReturnNotify};
  const bool supervised = profile.file_changes == FileChanges::kNotify;
  const bool refuses_set_ids = profile.set_ids == SetIds::kRefuse;
  switch (outcome) {
    case CallOutcome::kAllow: return allow;
    case CallOutcome::kPerm: return fails_with(1);
    case CallOutcome::kAccess: return fails_with(13);
    case CallOutcome::kNoSys: return fails_with(38);
    case CallOutcome::kNotSupported: return fails_with(95);
    case CallOutcome::kNoFamily: return fails_with(97);
    case CallOutcome::kUnixDatagrams: return profile.af_unix == AfUnix::kAllow ? allow : fails_with(13);
    case CallOutcome::kUnixSocket:
      if (profile.af_unix == AfUnix::kNotify) return notify;
      return profile.af_unix == AfUnix::kRefuse ? fails_with(13) : allow;
    case CallOutcome::kUnixDatagramSocket:
      if (profile.af_unix == AfUnix::kRefuse) return fails_with(13);
      return profile.af_unix == AfUnix::kAllow ? allow : notify;
    case CallOutcome::kUnixAddress: return profile.af_unix == AfUnix::kSupervised ? notify : allow;
    case CallOutcome::kFileLook: return profile.file_looks == FileLooks::kNotify ? notify : allow;
    case CallOutcome::kOwnerChange:
      if (profile.owners == Owners::kPretended) return fails_with(0);
      return supervised ? notify : allow;
    case CallOutcome::kFileChange: return supervised ? notify : allow;
    case CallOutcome::kGivesRights: return supervised || refuses_set_ids ? fails_with(1) : allow;
    case CallOutcome::kGivesGroup:
      if (supervised) return notify;
      return refuses_set_ids ? fails_with(1) : allow;
    case CallOutcome::kHiddenMode:
      if (supervised) return notify;
      return refuses_set_ids ? fails_with(38) : allow;
    case CallOutcome::kPastSupervisor: return supervised ? fails_with(38) : allow;
    case CallOutcome::kUnmappedMemory:
      return profile.unmapped_memory == UnmappedMemory::kRefuse ? fails_with(38) : allow;
    case CallOutcome::kFileFlags: return supervised ? fails_with(95) : allow;
    case CallOutcome::kKill: return {kReturn, 0, 0, kReturnKillProcess};
  }
  CHECK(!"outcome");
  return {kReturn, 0, 0, kReturnKillProcess};
}

std::uint8_t short_jump(std::size_t distance) {
  CHECK(distance <= kShortJumpMax);
  return static_cast<std::uint8_t>(distance);
}

}  // namespace

}  // namespace hutch::plan
