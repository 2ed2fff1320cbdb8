// Checks and runs seccomp programs without a kernel, so that what a filter does can be tested and explained.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "plan/filter/bpf.h"

namespace hutch::plan::bpf {

// struct seccomp_data of linux/seccomp.h.
struct SystemCall {
  std::int32_t number = 0;
  std::uint32_t architecture = 0;
  std::uint64_t instruction_pointer = 0;
  std::array<std::uint64_t, 6> arguments = {};
};

struct Verdict {
  std::uint32_t action = 0;  // SECCOMP_RET_* with its data
  std::size_t steps = 0;     // instructions run
};

// BPF_MAXINSNS of linux/bpf_common.h.
inline constexpr std::size_t kInstructionsMax = 4096;

// Whether the kernel would take the program: 1 to kInstructionsMax instructions of the kinds seccomp knows, aligned
// loads inside seccomp_data, every jump inside the program, a RET at the end (bpf_check_classic, seccomp_check_filter).
Status validate(const Program& program);

// The program must be valid. Only forward jumps exist, so it ends.
Verdict evaluate(const Program& program, const SystemCall& call);

}  // namespace hutch::plan::bpf
