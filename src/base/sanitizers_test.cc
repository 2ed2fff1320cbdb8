// The sanitizers of the dev build find ten kinds of fault, each made on purpose.
#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HUTCH_HAS_SANITIZERS 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define HUTCH_HAS_SANITIZERS 1
#endif

namespace hutch {
namespace {

// Hides a value from the compiler, so that it neither warns of the fault nor removes it.
template <class T>
T unknown(T value) {
  volatile T copy = value;
  return copy;
}

struct FaultCase {
  const char* name;
  void (*make)();
  const char* report;
};

void reads_beyond_the_heap() {
  const auto bytes = std::make_unique<char[]>(8);
  (void)unknown(bytes[static_cast<std::size_t>(unknown(8))]);
}

void writes_beyond_the_stack() {
  char bytes[8] = {};
  char* at = bytes;
  at[unknown(9)] = 1;
  (void)unknown(bytes[0]);
}

void uses_what_was_freed() {
  auto text = std::make_unique<std::string>(64, 'x');
  const char* at = text->data();
  text.reset();
  (void)unknown(at[unknown(3)]);
}

void frees_twice() {
  auto owner = std::make_unique<int>(1);
  std::unique_ptr<int> second(owner.get());
  second.reset();
  owner.reset();
}

const int* pointer_to_a_local() {
  const int local = unknown(7);
  const int* volatile at = &local;
  return at;
}

void uses_what_has_returned() { (void)unknown(*pointer_to_a_local()); }

void reads_beyond_a_vector() {
  std::vector<int> numbers(4);
  numbers.reserve(64);
  (void)unknown(numbers.data()[unknown(64)]);
}

void overflows_a_signed_number() { (void)unknown(unknown(INT_MAX) + unknown(1)); }

void shifts_too_far() { (void)unknown(unknown(1) << unknown(40)); }

void reads_through_null() { (void)unknown(*unknown(static_cast<int*>(nullptr))); }

void reads_a_number_where_none_can_be() {
  alignas(8) char bytes[16] = {};
  const void* const volatile at = bytes + unknown(1);
  (void)unknown(*static_cast<const std::uint64_t*>(at));
}

constexpr FaultCase kFaults[] = {
    {"HeapOverflow", reads_beyond_the_heap, "heap-buffer-overflow"},
    {"StackOverflow", writes_beyond_the_stack, "stack-buffer-overflow|out of bounds"},
    {"UseAfterFree", uses_what_was_freed, "heap-use-after-free"},
    {"DoubleFree", frees_twice, "double-free"},
    {"UseAfterReturn", uses_what_has_returned, "stack-use-after-return"},
    {"VectorOverflow", reads_beyond_a_vector, "heap-buffer-overflow"},
    {"SignedOverflow", overflows_a_signed_number, "signed integer overflow"},
    {"ShiftTooFar", shifts_too_far, "shift exponent 40"},
    {"NullPointer", reads_through_null, "null pointer"},
    {"Misaligned", reads_a_number_where_none_can_be, "misaligned address"},
};

class SanitizerFault : public testing::TestWithParam<FaultCase> {};

TEST_P(SanitizerFault, EndsTheTest) {
#ifdef HUTCH_HAS_SANITIZERS
  EXPECT_DEATH(GetParam().make(), GetParam().report);
#else
  GTEST_SKIP() << "this build has no sanitizers";
#endif
}

INSTANTIATE_TEST_SUITE_P(Kinds, SanitizerFault, testing::ValuesIn(kFaults),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hutch
