// Where characters of UTF-8 begin and end. All bytes of one but its first begin with the bits 10 (RFC 3629, section 3).
#include "base/utf8.h"

#include <algorithm>
#include <cstdint>

namespace hutch {

namespace {

constexpr std::size_t kFollowingMax = 3;  // bytes after a character's first

std::uint8_t byte_at(std::string_view bytes, std::size_t at) { return static_cast<std::uint8_t>(bytes[at]); }
bool is_following(std::uint8_t byte) { return (byte & 0xC0U) == 0x80U; }

}  // namespace

std::size_t unfinished_bytes(std::string_view bytes) {
  const std::size_t most = std::min(bytes.size(), kFollowingMax);
  for (std::size_t back = 1; back <= most; ++back) {
    const std::uint8_t byte = byte_at(bytes, bytes.size() - back);
    if (is_following(byte)) continue;
    const std::size_t whole = byte >= 0xF5 ? 1 : byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC2 ? 2 : 1;
    return whole > back ? back : 0;
  }
  return 0;
}

std::size_t stray_bytes(std::string_view bytes) {
  std::size_t count = 0;
  while (count < std::min(bytes.size(), kFollowingMax) && is_following(byte_at(bytes, count))) ++count;
  return count;
}

}  // namespace hutch
