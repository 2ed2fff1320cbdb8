// Bytes from the other end of the guest's stream: headers and messages of both directions.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>

#include "wire/message.h"

namespace {

using namespace hutch::wire;

std::string body_of(const auto& message) { return encode(message).substr(kFrameHeaderBytes); }

// A guest's own words are made visible as they are read (wire/message.cc, read_error): only their first reading changes
// them, or the second where they were cut.
bool holds_words(const ToHost& message) {
  return std::holds_alternative<Failed>(message) || std::holds_alternative<NotStarted>(message);
}

void check_words(const FrameHeader& header, const ToHost& message) {
  auto read = decode_to_host(header, body_of(message));
  if (!read) std::abort();
  const std::string settled = body_of(*read);
  read = decode_to_host(header, settled);
  if (!read || body_of(*read) != settled) std::abort();
}

}  // namespace

// The first byte chooses the direction; what is decoded must come out the same when it is written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1 + kFrameHeaderBytes) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto header = decode_header(bytes.substr(0, kFrameHeaderBytes));
  if (!header) return 0;
  const std::string_view body = bytes.substr(kFrameHeaderBytes);
  if (data[0] % 2 == 0) {
    const auto message = decode_to_guest(*header, body);
    if (message && body_of(*message) != body) std::abort();
    return 0;
  }
  const auto message = decode_to_host(*header, body);
  if (!message) return 0;
  if (holds_words(*message)) {
    check_words(*header, *message);
  } else if (body_of(*message) != body) {
    std::abort();
  }
  return 0;
}
