// The evaluator against programs small enough to work out by hand, and its check against broken ones.
#include "plan/filter/bpf_evaluator_testing.h"

#include <gtest/gtest.h>

namespace hutch::plan::bpf {
namespace {

constexpr std::uint16_t kLoad = 0x20, kJump = 0x05, kEqual = 0x15, kGreater = 0x25, kAtLeast = 0x35, kAnyBit = 0x45;
constexpr std::uint16_t kAnd = 0x54, kOr = 0x44, kAdd = 0x04, kSubtract = 0x14, kXor = 0xa4, kLeft = 0x64,
                        kRight = 0x74;
constexpr std::uint16_t kReturn = 0x06, kReturnAccumulator = 0x16;

const SystemCall kCall = {-2, 0x11, 0x3333333322222222, {0x5555555544444444, 0, 0, 0, 0, 0x7777777766666666}};

std::uint32_t value_of(Program program) {
  program.push_back({kReturnAccumulator, 0, 0, 0});
  EXPECT_TRUE(validate(program));
  return evaluate(program, kCall).action;
}

TEST(BpfEvaluator, LoadsEveryWord) {
  EXPECT_EQ(value_of({{kLoad, 0, 0, 0}}), 0xfffffffe);
  EXPECT_EQ(value_of({{kLoad, 0, 0, 4}}), 0x11u);
  EXPECT_EQ(value_of({{kLoad, 0, 0, 8}}), 0x22222222u);
  EXPECT_EQ(value_of({{kLoad, 0, 0, 12}}), 0x33333333u);
  EXPECT_EQ(value_of({{kLoad, 0, 0, 16}}), 0x44444444u);
  EXPECT_EQ(value_of({{kLoad, 0, 0, 20}}), 0x55555555u);
  EXPECT_EQ(value_of({{kLoad, 0, 0, 56}}), 0x66666666u);
  EXPECT_EQ(value_of({{kLoad, 0, 0, 60}}), 0x77777777u);
}

TEST(BpfEvaluator, Computes) {
  const Instruction load = {kLoad, 0, 0, 4};
  EXPECT_EQ(value_of({load, {kAdd, 0, 0, 0xffffffff}}), 0x10u);
  EXPECT_EQ(value_of({load, {kSubtract, 0, 0, 0x12}}), 0xffffffffu);
  EXPECT_EQ(value_of({load, {kAnd, 0, 0, 0x10}}), 0x10u);
  EXPECT_EQ(value_of({load, {kOr, 0, 0, 0x22}}), 0x33u);
  EXPECT_EQ(value_of({load, {kXor, 0, 0, 0x1}}), 0x10u);
  EXPECT_EQ(value_of({load, {kLeft, 0, 0, 4}}), 0x110u);
  EXPECT_EQ(value_of({load, {kRight, 0, 0, 4}}), 0x1u);
}

// Whether a branch of `code` on architecture 0x11 against `k` is taken.
bool taken(std::uint16_t code, std::uint32_t k) {
  const Program program = {{kLoad, 0, 0, 4}, {code, 1, 0, k}, {kReturn, 0, 0, 0}, {kReturn, 0, 0, 1}};
  EXPECT_TRUE(validate(program));
  return evaluate(program, kCall).action == 1;
}

TEST(BpfEvaluator, Branches) {
  EXPECT_TRUE(taken(kEqual, 0x11));
  EXPECT_FALSE(taken(kEqual, 0x10));
  EXPECT_TRUE(taken(kGreater, 0x10));
  EXPECT_FALSE(taken(kGreater, 0x11));
  EXPECT_TRUE(taken(kAtLeast, 0x11));
  EXPECT_FALSE(taken(kAtLeast, 0x12));
  EXPECT_FALSE(taken(kAtLeast, 0x80000000));  // unsigned
  EXPECT_TRUE(taken(kAnyBit, 0xff01));
  EXPECT_FALSE(taken(kAnyBit, 0xffee));
}

TEST(BpfEvaluator, CountsSteps) {
  EXPECT_EQ(evaluate({{kReturn, 0, 0, 7}}, kCall).steps, 1u);
  const Program jumps = {{kJump, 0, 0, 1}, {kReturn, 0, 0, 0}, {kLoad, 0, 0, 0}, {kReturn, 0, 0, 9}};
  EXPECT_EQ(evaluate(jumps, kCall).steps, 3u);
  EXPECT_EQ(evaluate(jumps, kCall).action, 9u);
}

TEST(BpfEvaluator, RefusesWhatTheKernelRefuses) {
  const Instruction end = {kReturn, 0, 0, 0};
  EXPECT_FALSE(validate({}));
  EXPECT_FALSE(validate({{kLoad, 0, 0, 0}}));                     // no RET
  EXPECT_FALSE(validate({{kLoad, 0, 0, 2}, end}));                // not aligned
  EXPECT_FALSE(validate({{kLoad, 0, 0, 64}, end}));               // behind the call
  EXPECT_FALSE(validate({{kJump, 0, 0, 1}, end}));                // to behind the end
  EXPECT_FALSE(validate({{kJump, 0, 0, 0xffffffff}, end}));       // backwards, by wrapping
  EXPECT_FALSE(validate({{kEqual, 1, 0, 0}, end}));
  EXPECT_FALSE(validate({{kEqual, 0, 1, 0}, end}));
  EXPECT_FALSE(validate({{kLeft, 0, 0, 32}, end}));
  EXPECT_FALSE(validate({{0x28, 0, 0, 0}, end}));                 // a half-word load
  EXPECT_FALSE(validate({{0x60, 0, 0, 0}, end}));                 // scratch memory that nothing wrote
  EXPECT_TRUE(validate(Program(kInstructionsMax, end)));
  EXPECT_FALSE(validate(Program(kInstructionsMax + 1, end)));
  EXPECT_TRUE(validate({end}));
  EXPECT_NE(validate({{kJump, 0, 0, 1}, end}).error().message.find("instruction 0"), std::string::npos);
}

}  // namespace
}  // namespace hutch::plan::bpf
