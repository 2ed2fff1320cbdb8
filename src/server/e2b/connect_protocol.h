// The Connect protocol's JSON over HTTP/1: envelopes of a stream, and errors by its codes. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hutch::server::connect {

inline constexpr std::size_t kEnvelopeHeadBytes = 5;
inline constexpr std::size_t kMessageBytesMax = 4 << 20;
inline constexpr std::uint8_t kCompressed = 1;
inline constexpr std::uint8_t kEndOfStream = 2;

struct Envelope {
  std::uint8_t flags = 0;
  std::string bytes;
  bool operator==(const Envelope&) const = default;
};

// Envelopes of what comes in pieces. After an error it is not asked again.
class EnvelopeReader {
 public:
  void add(std::string_view bytes) { buffer_ += bytes; }
  // The next whole one; nothing where more bytes are needed. A compressed one is Code::kUnsupported.
  Result<std::optional<Envelope>> next();
  bool is_between() const { return buffer_.empty(); }  // nothing of another one has come
  std::size_t bytes() const { return buffer_.size(); }

 private:
  std::string buffer_;
};

std::string envelope(std::uint8_t flags, std::string_view message);

// What a client is told: one of the protocol's codes, "not_found", and a text.
struct Problem {
  std::string_view code = "internal";
  std::string message{};
};
Problem problem_of(const Error& error);
int http_status(std::string_view code);  // of an answer that is no stream
std::string problem_json(const Problem& problem);

// The last envelope of a stream.
std::string end_of_stream();
std::string end_of_stream(const Problem& problem);

}  // namespace hutch::server::connect
