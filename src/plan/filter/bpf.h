// Classic BPF instructions, as seccomp(2) takes them.
#pragma once

#include <cstdint>
#include <vector>

namespace hutch::plan::bpf {

// The layout of struct sock_filter (linux/filter.h); plan/ compiles without Linux headers.
struct Instruction {
  std::uint16_t code = 0;
  std::uint8_t jump_true = 0;
  std::uint8_t jump_false = 0;
  std::uint32_t k = 0;
  bool operator==(const Instruction&) const = default;
};
static_assert(sizeof(Instruction) == 8);

using Program = std::vector<Instruction>;

}  // namespace hutch::plan::bpf
