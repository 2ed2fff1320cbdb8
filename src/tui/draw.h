// The wizard as lines of styled text, for a terminal of a given size. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tui/wizard.h"

namespace hutch::tui {

// What a style looks like is for the terminal; every line can be read without it.
enum class Style { kPlain, kTitle, kMarked, kDim, kGood, kBad };

struct Span {
  std::string text;
  Style style = Style::kPlain;
};
using Line = std::vector<Span>;

struct Frame {
  std::vector<Line> lines;
  struct Cursor {
    std::size_t row = 0;
    std::size_t column = 0;
  };
  std::optional<Cursor> cursor;  // absent: hidden
};

enum class Charset { kUtf8, kAscii };

struct Surface {
  std::size_t columns = 80;
  std::size_t rows = 24;
  Charset charset = Charset::kUtf8;
};

// The least in which all of it can be used.
inline constexpr std::size_t kColumnsMin = 40;
inline constexpr std::size_t kRowsMin = 10;

// No line is wider than the surface, and there are not more. Values have their control and bidirectional characters
// spelt out, and on an ASCII terminal every other one.
Frame draw(const Wizard& wizard, const Surface& surface);

}  // namespace hutch::tui
