// How wide a text is on a terminal.
#include "tui/columns.h"

#include <algorithm>
#include <array>
#include <span>

namespace hutch::tui {

namespace {

constexpr std::string_view kDots = "...";

struct Range {
  char32_t first;
  char32_t last;
};
// Of Unicode 15: marks that stand on the character before them, and what East Asian terminals show over two columns
// (UAX 11, W and F). Where a terminal sees it otherwise, a line is cut a little early or late.
constexpr std::array kNoColumn = {Range{0x300, 0x36f},   Range{0x483, 0x489},   Range{0x591, 0x5bd},
                                  Range{0x610, 0x61a},   Range{0x64b, 0x65f},   Range{0x1ab0, 0x1aff},
                                  Range{0x1dc0, 0x1dff}, Range{0x200b, 0x200f}, Range{0x20d0, 0x20ff},
                                  Range{0xfe00, 0xfe0f}, Range{0xfe20, 0xfe2f}, Range{0xe0100, 0xe01ef}};
constexpr std::array kTwoColumns = {
    Range{0x1100, 0x115f},   Range{0x2e80, 0x303e},   Range{0x3041, 0x33ff},   Range{0x3400, 0x4dbf},
    Range{0x4e00, 0x9fff},   Range{0xa000, 0xa4cf},   Range{0xa960, 0xa97f},   Range{0xac00, 0xd7a3},
    Range{0xf900, 0xfaff},   Range{0xfe30, 0xfe6f},   Range{0xff00, 0xff60},   Range{0xffe0, 0xffe6},
    Range{0x1f300, 0x1f64f}, Range{0x1f680, 0x1f6ff}, Range{0x1f900, 0x1faff}, Range{0x20000, 0x3fffd}};

struct Character {
  std::size_t bytes = 1;
  std::size_t columns = 1;
};

bool is_in(std::span<const Range> ranges, char32_t code) {
  return std::ranges::any_of(ranges, [&](const Range& range) { return code >= range.first && code <= range.last; });
}

// The first of a text that is not empty.
Character first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  if (bytes == 1 || bytes > text.size()) return {};
  char32_t code = lead & (0x7fU >> bytes);
  for (std::size_t at = 1; at < bytes; ++at) code = code << 6 | (static_cast<unsigned char>(text[at]) & 0x3fU);
  return {bytes, is_in(kNoColumn, code) ? 0U : is_in(kTwoColumns, code) ? 2U : 1U};
}

// How many bytes of the text fit.
std::size_t bytes_within(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  while (at < text.size()) {
    const Character next = first_of(text.substr(at));
    if (next.columns > columns) break;
    columns -= next.columns;
    at += next.bytes;
  }
  return at;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character next = first_of(text.substr(at));
    columns += next.columns;
    at += next.bytes;
  }
  return columns;
}

std::string cut_end(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  const std::string_view dots = kDots.substr(0, columns);
  return std::string(text.substr(0, bytes_within(text, columns - dots.size()))).append(dots);
}

std::string cut_start(std::string_view text, std::size_t columns) {
  const std::size_t all = columns_of(text);
  if (all <= columns) return std::string(text);
  const std::string_view dots = kDots.substr(0, columns);
  std::size_t left = all;
  while (left > columns - dots.size()) {
    const Character next = first_of(text);
    left -= next.columns;
    text.remove_prefix(next.bytes);
  }
  // A mark would stand on the last dot.
  while (!text.empty() && first_of(text).columns == 0) text.remove_prefix(first_of(text).bytes);
  return std::string(dots).append(text);
}

std::string fitted(std::string_view text, std::size_t columns) {
  std::string line = cut_end(text, columns);
  line.append(columns - columns_of(line), ' ');
  return line;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  while (columns_of(text) > columns) {
    std::size_t end = std::max<std::size_t>(bytes_within(text, columns), first_of(text).bytes);
    const std::size_t space = text.substr(0, std::min(end + 1, text.size())).rfind(' ');
    if (space != std::string_view::npos && space > end / 3) end = space;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    if (text.starts_with(' ')) text.remove_prefix(1);
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

}  // namespace hutch::tui
