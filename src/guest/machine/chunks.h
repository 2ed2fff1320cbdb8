// A body that comes in chunks (RFC 9112, 7.1): what is in them, and whether the last one has come. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hutch::guest {

class Chunks {
 public:
  // What these bytes carry; absent where they are no chunks.
  std::optional<std::string> take(std::string_view bytes);
  bool is_whole() const { return state_ == State::kDone; }

 private:
  enum class State { kSize, kBody, kLineEnd, kDone } state_ = State::kSize;
  bool read_size(std::string_view line);
  std::string line_;
  std::uint64_t left_ = 0;
};

}  // namespace hutch::guest
