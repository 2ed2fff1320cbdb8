// Numbers as text: what files of the system and of people hold.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hutch {

// The whole of `text`, digits alone; nothing for anything else and for what is too large.
inline std::optional<std::uint32_t> decimal_of(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace hutch
