// What OpenSSL says about a call that failed, as an Error.
#pragma once

#include <openssl/err.h>

#include <array>
#include <string_view>

#include "base/result.h"
#include "base/text.h"

namespace hutch::inspect {

// The oldest error of this thread's queue, which says the cause.
inline Error openssl_error(std::string_view what) {
  const unsigned long code = ERR_get_error();
  std::array<char, 256> text{};
  if (code != 0) ERR_error_string_n(code, text.data(), text.size());
  ERR_clear_error();
  return Error{Code::kSystem, 0, code == 0 ? std::string(what) : cat({what, ": ", text.data()})};
}

}  // namespace hutch::inspect
