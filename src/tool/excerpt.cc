// Characters of UTF-8, and excerpts of long output.
#include "tool/excerpt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/utf8.h"

namespace hutch::tool {

namespace {

std::string gap(std::uint64_t omitted, std::uint64_t total);
std::uint8_t byte_at(std::string_view text, std::size_t at);
bool is_continuation(std::string_view text, std::size_t at);

}  // namespace

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    const std::size_t ascii = ascii_bytes(text);
    count += ascii;
    text.remove_prefix(ascii);
    if (text.empty()) break;
    text.remove_prefix(character_bytes(text));
    ++count;
  }
  return count;
}

std::string_view first_characters(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  while (count > 0 && at < text.size()) {
    const std::size_t ascii = ascii_bytes(text.substr(at, count));
    at += ascii;
    count -= ascii;
    if (count == 0 || at == text.size()) break;
    at += character_bytes(text.substr(at));
    --count;
  }
  return text.substr(0, at);
}

std::string_view last_characters(std::string_view text, std::size_t count) {
  std::size_t at = text.size();
  for (; count > 0 && at > 0; --count) {
    std::size_t start = at - 1;
    while (start > 0 && at - start < 4 && is_continuation(text, start)) --start;
    // Only a whole character is taken as one; a stray byte stands for itself.
    at = start + character_bytes(text.substr(start)) == at ? start : at - 1;
  }
  return text.substr(at);
}

std::string_view without_cut_character(std::string_view text) {
  for (int i = 0; i < 3 && !text.empty() && is_continuation(text, 0); ++i) text.remove_prefix(1);
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const std::size_t at = text.size() - back;
    const std::uint8_t byte = byte_at(text, at);
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const std::size_t needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    if (needed > back) text.remove_suffix(back);
    break;
  }
  return text;
}

std::string excerpt(const Kept& kept, std::size_t budget) {
  if (kept.omitted_bytes == 0) {
    if (kept.tail.empty()) return excerpt(kept.head, budget);
    return excerpt(kept.whole(), budget);
  }
  const std::string_view head = first_characters(without_cut_character(kept.head), budget * 2 / 5);
  const std::string_view tail = last_characters(without_cut_character(kept.tail), budget - budget * 2 / 5);
  const std::uint64_t total = count_characters(kept.head) + kept.omitted_bytes + count_characters(kept.tail);
  const std::uint64_t shown = count_characters(head) + count_characters(tail);
  return fmt::format("{}{}{}", head, gap(total - shown, total), tail);
}

std::string excerpt(std::string_view text, std::size_t budget) {
  if (text.size() <= budget) return std::string(text);
  const std::size_t total = count_characters(text);
  if (total <= budget) return std::string(text);
  const std::size_t first = budget * 2 / 5;
  return fmt::format("{}{}{}", first_characters(text, first), gap(total - budget, total),
                     last_characters(text, budget - first));
}

namespace {

std::string gap(std::uint64_t omitted, std::uint64_t total) {
  return fmt::format("\n\n... [output truncated — {} chars omitted out of {} total] ...\n\n", omitted, total);
}

std::uint8_t byte_at(std::string_view text, std::size_t at) { return static_cast<std::uint8_t>(text[at]); }

bool is_continuation(std::string_view text, std::size_t at) { return (byte_at(text, at) & 0xc0) == 0x80; }

}  // namespace

}  // namespace hutch::tool
