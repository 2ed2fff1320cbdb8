// The Connect protocol's JSON over HTTP/1.
#include "server/e2b/connect_protocol.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.h"
#include "server/e2b/key_memory.h"
#include "tool/value.h"

namespace hutch::server::connect {

namespace {

struct NamedCode {
  std::string_view name;
  int status;
};
constexpr std::array kCodes = {
    NamedCode{"canceled", 499},
    NamedCode{"unknown", 500},
    NamedCode{"invalid_argument", 400},
    NamedCode{"deadline_exceeded", 504},
    NamedCode{"not_found", 404},
    NamedCode{"already_exists", 409},
    NamedCode{"permission_denied", 403},
    NamedCode{"resource_exhausted", 429},
    NamedCode{"failed_precondition", 400},
    NamedCode{"unimplemented", 501},
    NamedCode{"internal", 500},
    NamedCode{"unavailable", 503},
    NamedCode{"unauthenticated", 401},
};

using tool::Value;

Value::Object problem_object(const Problem& problem) {
  return {{"code", problem.code}, {"message", printable(problem.message, 2048)}};
}

}  // namespace

Result<std::optional<Envelope>> EnvelopeReader::next() {
  if (buffer_.size() < kEnvelopeHeadBytes) return std::optional<Envelope>();
  const auto byte = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(buffer_[at])); };
  const auto flags = static_cast<std::uint8_t>(byte(0));
  const std::size_t size = byte(1) << 24 | byte(2) << 16 | byte(3) << 8 | byte(4);
  if ((flags & kCompressed) != 0) return fail(Error::unsupported("messages are taken as they are, not compressed"));
  if ((flags & ~kEndOfStream) != 0) return fail(Error::invalid("an envelope has unknown flags"));
  if (size > kMessageBytesMax) {
    return fail(Error::invalid(cat({"a message has more than ", std::to_string(kMessageBytesMax), " bytes"})));
  }
  if (buffer_.size() < kEnvelopeHeadBytes + size) return std::optional<Envelope>();
  Envelope found{flags, buffer_.substr(kEnvelopeHeadBytes, size)};
  buffer_.erase(0, kEnvelopeHeadBytes + size);
  return std::optional(std::move(found));
}

std::string envelope(std::uint8_t flags, std::string_view message) {
  const std::size_t size = message.size();
  std::string bytes;
  bytes.reserve(kEnvelopeHeadBytes + size);
  bytes += static_cast<char>(flags);
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(size >> shift & 0xff);
  return bytes += message;
}

Problem problem_of(const Error& error) {
  switch (error.code) {
    case Code::kInvalidArgument: return {"invalid_argument", error.message};
    case Code::kNotFound: return {"not_found", error.message};
    case Code::kPermissionDenied: return {"permission_denied", error.message};
    case Code::kConflict:
      if (is_full(error)) return {"resource_exhausted", error.message};
      return {error.sys_errno == EEXIST ? "already_exists" : "failed_precondition", error.message};
    case Code::kUnsupported: return {"unimplemented", error.message};
    case Code::kTimeout: return {"deadline_exceeded", error.message};
    case Code::kSystem: break;
  }
  return {"internal", error.message};
}

int http_status(std::string_view code) {
  const auto found = std::ranges::find(kCodes, code, &NamedCode::name);
  return found == kCodes.end() ? 500 : found->status;
}

std::string problem_json(const Problem& problem) { return tool::json_text(Value(problem_object(problem))); }

std::string end_of_stream() { return envelope(kEndOfStream, "{}"); }

std::string end_of_stream(const Problem& problem) {
  return envelope(kEndOfStream, tool::json_text(Value(Value::Object{{"error", problem_object(problem)}})));
}

}  // namespace hutch::server::connect
