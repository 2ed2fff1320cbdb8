// Envelopes: which kinds can be retried, and their JSON.
#include "tool/envelope.h"

#include <utility>

namespace hutch::tool {

namespace {

Value::Object failure_members(Envelope& envelope);

}  // namespace

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::kInvalidArgs: return "invalid_args";
    case Kind::kRejected: return "rejected";
    case Kind::kUserDenied: return "user_denied";
    case Kind::kTimeout: return "timeout";
    case Kind::kExecutionError: return "execution_error";
    case Kind::kUnavailable: return "unavailable";
    case Kind::kToolNotFound: return "tool_not_found";
    case Kind::kNotFound: return "not_found";
  }
  return "execution_error";
}

bool retryable_by_default(Kind kind) {
  switch (kind) {
    case Kind::kInvalidArgs:
    case Kind::kTimeout:
    case Kind::kExecutionError:
    case Kind::kUnavailable: return true;
    case Kind::kRejected:
    case Kind::kUserDenied:
    case Kind::kToolNotFound:
    case Kind::kNotFound: return false;
  }
  return false;
}

Envelope success(Value::Object result) { return {.ok = true, .result = std::move(result)}; }

Envelope failure(Kind kind, std::string message) {
  return {.kind = kind, .message = std::move(message), .retryable = retryable_by_default(kind)};
}

Envelope final_failure(Kind kind, std::string message) { return {.kind = kind, .message = std::move(message)}; }

Envelope bad_argument(std::string_view field, std::string message, std::string expected) {
  Envelope envelope = failure(Kind::kInvalidArgs, std::move(message));
  envelope.field = field;
  envelope.expected = std::move(expected);
  return envelope;
}

Value value_of(Envelope envelope) {
  Value::Object members;
  if (envelope.ok) {
    members.emplace("ok", true);
    members.emplace("result", std::move(envelope.result));
  } else {
    members = failure_members(envelope);
  }
  if (!envelope.tool.empty()) members.insert_or_assign("tool", envelope.tool);
  if (!envelope.warnings.empty()) {
    members.insert_or_assign("warnings", Value::List(envelope.warnings.begin(), envelope.warnings.end()));
  }
  return Value(std::move(members));
}

std::string json_text(const Envelope& envelope) { return json_text(value_of(envelope)); }

namespace {

Value::Object failure_members(Envelope& envelope) {
  Value::Object members = std::move(envelope.extra);
  for (const std::string_view reserved : {"field", "expected", "tool", "warnings", "result"}) {
    if (const auto at = members.find(reserved); at != members.end()) members.erase(at);
  }
  members.insert_or_assign("ok", false);
  members.insert_or_assign("kind", name_of(envelope.kind));
  members.insert_or_assign("message", envelope.message);
  members.insert_or_assign("retryable", envelope.retryable);
  if (!envelope.field.empty()) members.insert_or_assign("field", envelope.field);
  if (!envelope.expected.empty()) members.insert_or_assign("expected", envelope.expected);
  return members;
}

}  // namespace

}  // namespace hutch::tool
