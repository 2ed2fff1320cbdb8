// What a test cannot go on without.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "base/result.h"

namespace hutch::guest {

template <class T>
T must(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.error().message;
    std::abort();
  }
  return std::move(*result);
}

}  // namespace hutch::guest
