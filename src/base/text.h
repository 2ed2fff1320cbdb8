// Small text helpers: joining, splitting, the nearest known word, printing untrusted bytes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hutch {

// All pieces, one after another.
std::string cat(std::initializer_list<std::string_view> pieces);

// The parts between `separator`; "a,,b" gives "a", "", "b"; "" gives nothing.
std::vector<std::string_view> split(std::string_view text, char separator);

// "1 file", "2 files".
std::string counted(std::uint64_t count, std::string_view noun);

std::string join(const std::vector<std::string>& parts, std::string_view separator);

// The known word at the smallest edit distance from `word`, if that is near enough to be what was meant.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string_view> known);

// `text` with control bytes, invalid UTF-8 and bidirectional controls as \xNN, so that a name chosen in a sandbox
// cannot move the reader's cursor or reorder a line (Unicode TR 36, section 2.5). Cut to `bytes_max` with "...".
std::string printable(std::string_view text, std::size_t bytes_max = 512);

// The word as a POSIX shell reads it back: in single quotes where it holds anything but plain characters.
std::string shell_word(std::string_view word);

// Whether `path` is `ancestor` or lies below it. Both absolute and without "." or "..".
bool is_within(std::string_view path, std::string_view ancestor);

// Returns lower-case digits, two for each byte.
std::string to_hex(std::string_view bytes);

}  // namespace hutch
