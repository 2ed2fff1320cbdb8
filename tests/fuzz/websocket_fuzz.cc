// A WebSocket client's bytes, in pieces of any size: what is taken does not depend on the pieces.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "server/protocol/ws_frames.h"

namespace {

using namespace hutch::server::ws;

// Up to the first broken rule, which is the last: a close with its code, and "!" before the rule.
std::vector<Message> read_all(std::string_view bytes, std::size_t size) {
  std::vector<Message> all;
  Reader reader;
  for (;;) {
    auto message = reader.next();
    if (!message) {
      CHECK(message.error().code >= 1000 && message.error().code < 1012);
      all.push_back({Kind::kClose, "!" + message.error().message, message.error().code});
      return all;
    }
    if (*message) {
      CHECK((*message)->bytes.size() <= kMessageBytesMax);
      all.push_back(std::move(**message));
      continue;
    }
    if (bytes.empty()) return all;
    const std::size_t count = std::min(size, bytes.size());
    reader.add(bytes.substr(0, count));
    bytes.remove_prefix(count);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  CHECK(read_all(bytes, bytes.size() + 1) == read_all(bytes, 1 + data[0] % 64));
  const std::string close = close_frame(1000 + data[0], bytes);
  CHECK(close.size() <= 2 + kControlBytesMax);
  return 0;
}
