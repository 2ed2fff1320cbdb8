// A Connect client's envelopes, in pieces of any size: what is taken does not depend on the pieces.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "server/e2b/connect_protocol.h"

namespace {

using namespace hutch::server::connect;

std::vector<Envelope> read_all(std::string_view bytes, std::size_t size) {
  std::vector<Envelope> all;
  EnvelopeReader reader;
  for (;;) {
    auto next = reader.next();
    if (!next) {
      all.push_back({0xff, next.error().message});
      return all;
    }
    if (*next) {
      CHECK((*next)->bytes.size() <= kMessageBytesMax);
      all.push_back(std::move(**next));
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
  const std::vector<Envelope> whole = read_all(bytes, bytes.size() + 1);
  CHECK(whole == read_all(bytes, 1 + data[0] % 64));
  std::string again;
  for (const Envelope& one : whole) {
    if (one.flags == 0xff) break;
    again += envelope(one.flags, one.bytes);
  }
  CHECK(bytes.starts_with(again));
  return 0;
}
