// Texts as programs spell them otherwise, read back: escapes of URLs, HTML, JSON, shells and languages, base64, hex.
// Pure, and linear in the text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hutch::secret {

// A text, and of which bytes of another one each of its bytes was made.
struct Unspelled {
  std::string text;
  std::vector<std::uint32_t> begin;
  std::vector<std::uint32_t> end;
  // What stands at its end is not all there: where that begins, and of a byte of which some bits are known how many,
  // and which.
  std::optional<std::uint32_t> pending{};
  unsigned bits = 0;
  unsigned value = 0;

  void add(char c, std::uint32_t from, std::uint32_t to);
  std::size_t size() const { return text.size(); }
};

// More of the text may come behind its end: what could go on there is pending.
enum class Rest { kNone, kMayCome };

// For all bytes that are no ASCII, however many stand beside each other.
inline constexpr char kOther = '\x80';

Unspelled as_it_is(std::string_view text);
// Where a program wraps what it writes, or a terminal adds its own.
Unspelled without_line_ends(const Unspelled& text);

// Every escape taken for what it stands for, as often as it is one: %XX, &name; &#N; and &#xN; with and without ";",
// \n, \xHH, \ooo, \uXXXX, \u{X}, \UXXXXXXXX. Quotes, other backslashes, line ends and the blanks behind them are left
// out, and what is no ASCII is kOther. Not what a program would read, but the same of a text and of each spelling.
Unspelled plainly(const Unspelled& text, Rest rest);

// What the runs of base64 in it (both alphabets) say without their first 2 * `phase` bits, phase below 4: where bytes
// begin is not known, and one of the four is right. Between two runs stands a NUL. None where nothing is long enough
// for `bytes_min` bytes; at the end of a text that may go on one of any length is long enough, and at the beginning of
// one that was cut there.
Unspelled from_base64_runs(const Unspelled& text, unsigned phase, std::size_t bytes_min, Rest rest);
// Likewise of hex, in both cases, its bytes perhaps apart by blanks, colons, commas, hyphens and "0x"; 4 * `phase`,
// phase below 2.
Unspelled from_hex_runs(const Unspelled& text, unsigned phase, std::size_t bytes_min, Rest rest);

}  // namespace hutch::secret
