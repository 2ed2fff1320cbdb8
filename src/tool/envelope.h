// The answer of every tool: a result, or what kind of failure it was and what would mend it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tool/value.h"

namespace hutch::tool {

enum class Kind {
  kInvalidArgs,
  kRejected,
  kUserDenied,
  kTimeout,
  kExecutionError,
  kUnavailable,
  kToolNotFound,
  kNotFound,
};

// Of a failure's `extra`: what whoever asked can give, after which the same call succeeds.
inline constexpr std::string_view kNeeds = "needs";
inline constexpr std::string_view kNeedsSystem = "system";

struct Envelope {
  bool ok = false;
  Value result{};  // of a success
  // Of a failure:
  Kind kind = Kind::kExecutionError;
  std::string message{};
  bool retryable = false;
  std::string field{};     // the argument that was wrong; empty: left out
  std::string expected{};  // what it should have been; empty: left out
  Value::Object extra{};   // more about it, such as the output so far; never hides one of the names above
  // Of both:
  std::string tool{};
  std::vector<std::string> warnings{};
};

std::string_view name_of(Kind kind);

// Whether the same call may be tried again, as far as the kind says.
bool retryable_by_default(Kind kind);

Envelope success(Value::Object result);
Envelope failure(Kind kind, std::string message);
Envelope final_failure(Kind kind, std::string message);  // not retryable, whatever the kind
Envelope bad_argument(std::string_view field, std::string message, std::string expected);

// {"ok":true,"result":...} or {"ok":false,"kind":...,...}
Value value_of(Envelope envelope);
// One line, keys sorted.
std::string json_text(const Envelope& envelope);

}  // namespace hutch::tool
