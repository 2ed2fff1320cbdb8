// Where characters of UTF-8 begin and end. All bytes of one but its first begin with the bits 10 (RFC 3629, section 3).
#include "base/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace hutch {

namespace {

constexpr std::size_t kFollowingMax = 3;  // bytes after a character's first

std::uint8_t byte_at(std::string_view bytes, std::size_t at) { return static_cast<std::uint8_t>(bytes[at]); }
bool is_following(std::uint8_t byte) { return (byte & 0xC0U) == 0x80U; }

}  // namespace

// RFC 3629, section 4.
std::size_t character_bytes(std::string_view bytes) {
  const std::uint8_t lead = byte_at(bytes, 0);
  const std::size_t length = lead >= 0xf5 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 1;
  if (length == 1 || bytes.size() < length) return 1;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_following(byte_at(bytes, i))) return 1;
  }
  const std::uint8_t second = byte_at(bytes, 1);
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool no_scalar = (lead == 0xed && second >= 0xa0) || (lead == 0xf4 && second >= 0x90);
  return overlong || no_scalar ? 1 : length;
}

// Eight at a time: most text is nothing else.
std::size_t ascii_bytes(std::string_view bytes) {
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    if ((word & 0x8080808080808080U) != 0) break;
  }
  while (at < bytes.size() && byte_at(bytes, at) < 0x80) ++at;
  return at;
}

bool is_utf8(std::string_view bytes) {
  for (;;) {
    bytes.remove_prefix(ascii_bytes(bytes));
    if (bytes.empty()) return true;
    const std::size_t length = character_bytes(bytes);
    if (length == 1) return false;
    bytes.remove_prefix(length);
  }
}

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
