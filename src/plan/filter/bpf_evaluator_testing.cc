// A small interpreter of the classic BPF that seccomp(2) accepts, with the kernel's own check before it.
#include "plan/filter/bpf_evaluator_testing.h"

#include <bit>
#include <string>

#include "base/check.h"
#include "base/text.h"

namespace hutch::plan::bpf {

namespace {

// Opcodes of linux/bpf_common.h, whole: class, size or operation, source. Those that seccomp accepts and hutch's
// compiler or a hand-written program may use; scratch memory and X are left out, as nothing here writes them.
enum Opcode : std::uint16_t {
  kOpLoadWord = 0x20,
  kOpAdd = 0x04,
  kOpSubtract = 0x14,
  kOpOr = 0x44,
  kOpAnd = 0x54,
  kOpShiftLeft = 0x64,
  kOpShiftRight = 0x74,
  kOpXor = 0xa4,
  kOpJump = 0x05,
  kOpJumpEqual = 0x15,
  kOpJumpGreater = 0x25,
  kOpJumpAtLeast = 0x35,
  kOpJumpAnyBit = 0x45,
  kOpReturn = 0x06,
  kOpReturnAccumulator = 0x16,
};

constexpr std::uint32_t kDataBytes = 64;  // sizeof(struct seccomp_data)

enum class Shape { kUnknown, kLoad, kShift, kArithmetic, kJump, kBranch, kReturn };

Shape shape_of(std::uint16_t code);
Status check_instruction(const Program& program, std::size_t at);
std::uint32_t load(const SystemCall& call, std::uint32_t offset);
std::uint32_t compute(std::uint16_t code, std::uint32_t accumulator, std::uint32_t k);
bool holds(std::uint16_t code, std::uint32_t accumulator, std::uint32_t k);

}  // namespace

Status validate(const Program& program) {
  if (program.empty()) return fail(Error::invalid("the program is empty"));
  if (program.size() > kInstructionsMax) return fail(Error::invalid("the program is longer than 4096 instructions"));
  for (std::size_t at = 0; at < program.size(); ++at) {
    TRY_CTX(check_instruction(program, at), cat({"instruction ", std::to_string(at)}));
  }
  if (shape_of(program.back().code) != Shape::kReturn) return fail(Error::invalid("the program does not end in RET"));
  return {};
}

Verdict evaluate(const Program& program, const SystemCall& call) {
  std::uint32_t accumulator = 0;
  std::size_t at = 0;
  for (std::size_t steps = 1;; ++steps) {
    CHECK(at < program.size());
    const Instruction& instruction = program[at++];
    switch (shape_of(instruction.code)) {
      case Shape::kLoad: accumulator = load(call, instruction.k); break;
      case Shape::kShift:
      case Shape::kArithmetic: accumulator = compute(instruction.code, accumulator, instruction.k); break;
      case Shape::kJump: at += instruction.k; break;
      case Shape::kBranch:
        at += holds(instruction.code, accumulator, instruction.k) ? instruction.jump_true : instruction.jump_false;
        break;
      case Shape::kReturn: return {instruction.code == kOpReturn ? instruction.k : accumulator, steps};
      case Shape::kUnknown: CHECK(!"instruction that validate() refuses");
    }
  }
}

namespace {

Shape shape_of(std::uint16_t code) {
  switch (code) {
    case kOpLoadWord: return Shape::kLoad;
    case kOpShiftLeft:
    case kOpShiftRight: return Shape::kShift;
    case kOpAdd:
    case kOpSubtract:
    case kOpOr:
    case kOpAnd:
    case kOpXor: return Shape::kArithmetic;
    case kOpJump: return Shape::kJump;
    case kOpJumpEqual:
    case kOpJumpGreater:
    case kOpJumpAtLeast:
    case kOpJumpAnyBit: return Shape::kBranch;
    case kOpReturn:
    case kOpReturnAccumulator: return Shape::kReturn;
    default: return Shape::kUnknown;
  }
}

Status check_instruction(const Program& program, std::size_t at) {
  const Instruction& instruction = program[at];
  const std::size_t after = program.size() - at - 1;
  switch (shape_of(instruction.code)) {
    case Shape::kLoad:
      // seccomp_check_filter: aligned words inside seccomp_data alone.
      if (instruction.k % 4 != 0 || instruction.k >= kDataBytes) return fail(Error::invalid("loads outside the call"));
      return {};
    case Shape::kShift:
      if (instruction.k >= 32) return fail(Error::invalid("shifts by 32 or more"));
      return {};
    case Shape::kJump:
      if (instruction.k >= after) return fail(Error::invalid("jumps out of the program"));
      return {};
    case Shape::kBranch:
      if (instruction.jump_true >= after || instruction.jump_false >= after) {
        return fail(Error::invalid("jumps out of the program"));
      }
      return {};
    case Shape::kArithmetic:
    case Shape::kReturn: return {};
    case Shape::kUnknown: return fail(Error::invalid("unknown instruction"));
  }
  CHECK(!"shape");
  return {};
}

std::uint32_t load(const SystemCall& call, std::uint32_t offset) {
  const auto half = [&](std::uint64_t value) {
    return static_cast<std::uint32_t>(offset % 8 == 0 ? value : value >> 32);
  };
  if (offset == 0) return std::bit_cast<std::uint32_t>(call.number);
  if (offset == 4) return call.architecture;
  if (offset < 16) return half(call.instruction_pointer);
  return half(call.arguments.at((offset - 16) / 8));
}

std::uint32_t compute(std::uint16_t code, std::uint32_t accumulator, std::uint32_t k) {
  switch (code) {
    case kOpAdd: return accumulator + k;
    case kOpSubtract: return accumulator - k;
    case kOpOr: return accumulator | k;
    case kOpAnd: return accumulator & k;
    case kOpXor: return accumulator ^ k;
    case kOpShiftLeft: return accumulator << k;
    case kOpShiftRight: return accumulator >> k;
    default: CHECK(!"arithmetic"); return 0;
  }
}

bool holds(std::uint16_t code, std::uint32_t accumulator, std::uint32_t k) {
  switch (code) {
    case kOpJumpEqual: return accumulator == k;
    case kOpJumpGreater: return accumulator > k;
    case kOpJumpAtLeast: return accumulator >= k;
    default: return (accumulator & k) != 0;
  }
}

}  // namespace

}  // namespace hutch::plan::bpf
