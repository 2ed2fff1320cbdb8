// Frames between the host and the guest's file server, of both directions.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "wire/files.h"

// The first byte chooses the direction; what is decoded must come out the same when it is written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1 + hutch::wire::kFrameHeaderBytes) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto header = hutch::wire::decode_header(bytes.substr(0, hutch::wire::kFrameHeaderBytes));
  if (!header) return 0;
  const std::string_view body = bytes.substr(hutch::wire::kFrameHeaderBytes);
  if (data[0] % 2 == 0) {
    const auto message = hutch::wire::decode_file_request(*header, body);
    if (message && hutch::wire::encode(*message).substr(hutch::wire::kFrameHeaderBytes) != body) std::abort();
  } else {
    const auto message = hutch::wire::decode_file_reply(*header, body);
    if (message && hutch::wire::encode(*message).substr(hutch::wire::kFrameHeaderBytes) != body) std::abort();
  }
  return 0;
}
