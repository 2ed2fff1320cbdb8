// A body that comes in chunks.
#include "guest/machine/chunks.h"

#include <algorithm>
#include <charconv>

namespace hutch::guest {

namespace {

constexpr std::size_t kLineBytesMax = 256;
constexpr std::uint64_t kChunkBytesMax = 1 << 30;

}  // namespace

std::optional<std::string> Chunks::take(std::string_view bytes) {
  std::string body;
  while (!bytes.empty() && state_ != State::kDone) {
    if (state_ == State::kBody) {
      const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
      body += bytes.substr(0, size);
      bytes.remove_prefix(size);
      left_ -= size;
      if (left_ == 0) state_ = State::kLineEnd;
      continue;
    }
    const char c = bytes.front();
    bytes.remove_prefix(1);
    line_ += c;
    if (line_.size() > kLineBytesMax) return std::nullopt;
    if (c != '\n') continue;
    if (!line_.ends_with("\r\n")) return std::nullopt;
    line_.resize(line_.size() - 2);
    if (state_ == State::kLineEnd) {
      if (!line_.empty()) return std::nullopt;
      state_ = State::kSize;
    } else if (!read_size(line_)) {
      return std::nullopt;
    }
    line_.clear();
  }
  return body;
}

// What follows the last chunk, which is empty, is of no interest.
bool Chunks::read_size(std::string_view line) {
  const std::string_view digits = line.substr(0, line.find(';'));
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), left_, 16);
  if (error != std::errc() || end != digits.data() + digits.size() || left_ > kChunkBytesMax) return false;
  state_ = left_ == 0 ? State::kDone : State::kBody;
  return true;
}

}  // namespace hutch::guest
