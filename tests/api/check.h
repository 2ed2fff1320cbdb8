// What the checks of the library say, and end with, where something is not so.
#pragma once

#include <hutch/sandbox.h>

#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <utility>

#define EXPECT(condition)                                                          \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (false)

template <class T>
T must(hutch::Expected<T> result, int line = __builtin_LINE()) {
  if (!result) {
    std::fprintf(stderr, "line %d: %s\n", line, result.error().message.c_str());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}
