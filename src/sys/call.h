// How every wrapper in sys/ turns a kernel answer into a Result.
#pragma once

#include <cerrno>
#include <initializer_list>
#include <string_view>

#include "base/result.h"
#include "base/text.h"
#include "base/unique_fd.h"

namespace hutch::sys {

// Calls again while a signal interrupts. Not for close(2).
template <class Call>
auto retry(Call call) {
  for (;;) {
    const auto answer = call();
    if (answer >= 0 || errno != EINTR) return answer;
  }
}

// `what` is the call with its argument, in pieces that are joined only on failure.
template <class Answer>
Status check(Answer answer, std::initializer_list<std::string_view> what) {
  if (answer >= 0) return {};
  const int err = errno;
  return fail(Error::from_errno(cat(what), err));
}

template <class Answer>
Result<UniqueFd> check_fd(Answer answer, std::initializer_list<std::string_view> what) {
  if (answer >= 0) return UniqueFd(static_cast<int>(answer));
  const int err = errno;
  return fail(Error::from_errno(cat(what), err));
}

}  // namespace hutch::sys
