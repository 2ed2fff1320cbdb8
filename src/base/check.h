// CHECK: our own bugs, found at once, in release builds too.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace hutch::detail {
[[noreturn]] inline void check_failed(const char* what, const char* file, int line) {
  std::fprintf(stderr, "hutch: bug: CHECK(%s) failed at %s:%d\n", what, file, line);
  std::abort();
}
}  // namespace hutch::detail

// For what can only be false when hutch itself is wrong; never for input or for the kernel's answers.
#define CHECK(condition) ((condition) ? void(0) : ::hutch::detail::check_failed(#condition, __FILE__, __LINE__))
