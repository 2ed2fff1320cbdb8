// Small text helpers.
#include "base/text.h"

#include <algorithm>
#include <array>

namespace hutch {

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b);
std::size_t utf8_length(std::string_view text);
bool is_unseen(std::string_view character);
bool is_joiner(std::string_view character);
char32_t code_point(std::string_view character);
std::string escape_unseen(std::string_view text, std::size_t bytes_max, void (*escape)(std::string&, unsigned char));

}  // namespace

std::string cat(std::initializer_list<std::string_view> pieces) {
  std::size_t size = 0;
  for (std::string_view piece : pieces) size += piece.size();
  std::string out;
  out.reserve(size);
  for (std::string_view piece : pieces) out += piece;
  return out;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  if (text.empty()) return parts;
  parts.reserve(static_cast<std::size_t>(std::ranges::count(text, separator)) + 1);
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return cat({std::to_string(count), " ", noun, count == 1 ? "" : "s"});
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (!out.empty()) out += separator;
    out += part;
  }
  return out;
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string_view> known) {
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (std::string_view candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = std::string(candidate);
  }
  return best;
}

std::string printable(std::string_view text, std::size_t bytes_max) {
  static constexpr char kHex[] = "0123456789abcdef";
  const auto hex = [](std::string& out, unsigned char byte) {
    out += "\\x";
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  };
  return escape_unseen(text, bytes_max, hex);
}

// What printable() escapes becomes octal in $'...' (POSIX.1-2024, XCU 2.2.4): the result is safe to print, and a shell
// reads the very same bytes back.
std::string shell_word(std::string_view word) {
  const auto octal = [](std::string& out, unsigned char byte) {
    out += '\\';
    for (const int shift : {6, 3, 0}) out += static_cast<char>('0' + (byte >> shift & 7));
  };
  const bool seen = printable(word, std::string::npos) == word;
  const bool plain = !word.empty() && word.find_first_of(" \t\n'\"\\$`*?[](){}<>|&;#~!") == word.npos;
  if (seen && plain) return std::string(word);
  std::string escaped;
  for (const char c : word) {
    if (seen) {
      escaped += c == '\'' ? std::string("'\\''") : std::string(1, c);
    } else {
      escaped += c == '\'' || c == '\\' ? cat({"\\", std::string_view(&c, 1)}) : std::string(1, c);
    }
  }
  return seen ? cat({"'", escaped, "'"}) : cat({"$'", escape_unseen(escaped, std::string::npos, octal), "'"});
}

bool is_within(std::string_view path, std::string_view ancestor) {
  if (ancestor == "/") return path.starts_with('/');
  return path.starts_with(ancestor) && (path.size() == ancestor.size() || path[ancestor.size()] == '/');
}

namespace {

std::string escape_unseen(std::string_view text, std::size_t bytes_max, void (*escape)(std::string&, unsigned char)) {
  std::string out;
  bool follows_ascii = true;
  while (!text.empty()) {
    if (out.size() >= bytes_max) return out + "...";
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    const auto byte = static_cast<unsigned char>(text.front());
    const bool is_seen = length == 1 || !(is_unseen(character) || (follows_ascii && is_joiner(character)));
    const bool plain = length > 0 && byte >= 0x20 && byte != 0x7f && is_seen;
    follows_ascii = length <= 1;
    if (plain) {
      out += character;
    } else {
      for (const char raw : character) escape(out, static_cast<unsigned char>(raw));
    }
    text.remove_prefix(character.size());
  }
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

// The length of the well-formed character that `text` starts with, 0 where there is none. C1 controls (U+0080 to
// U+009F) count as none: some terminals act on them.
std::size_t utf8_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (length == 0 || lead > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
  }
  if (lead == 0xc2 && at(1) < 0xa0) return 0;
  if (lead == 0xe0 && at(1) < 0xa0) return 0;
  if (lead == 0xed && at(1) >= 0xa0) return 0;
  if (lead == 0xf0 && at(1) < 0x90) return 0;
  if (lead == 0xf4 && at(1) >= 0x90) return 0;
  return length;
}

char32_t code_point(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  char32_t code = character.size() == 1 ? lead : lead & (0x7fU >> character.size());
  for (const char following : character.substr(1)) code = (code << 6) | (static_cast<unsigned char>(following) & 0x3fU);
  return code;
}

// Characters that take no room, control the direction, end a line, or look like a space: those that Unicode lets
// renderers ignore (Default_Ignorable_Code_Point), format characters, separators, blank letters.
bool is_unseen(std::string_view character) {
  struct Range {
    char32_t first;
    char32_t last;
  };
  static constexpr std::array<Range, 26> kUnseen = {
      {{0xa0, 0xa0},       {0xad, 0xad},       {0x34f, 0x34f},     {0x61c, 0x61c},     {0x115f, 0x1160},
       {0x1680, 0x1680},   {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x2000, 0x200b},   {0x200e, 0x200f},
       {0x2028, 0x202f},   {0x205f, 0x206f},   {0x2800, 0x2800},   {0x3164, 0x3164},   {0xe000, 0xf8ff},
       {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},   {0xfffe, 0xffff},
       {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d159, 0x1d159}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
       {0xf0000, 0x10ffff}}};
  const char32_t code = code_point(character);
  return std::ranges::any_of(kUnseen, [&](const Range& range) { return code >= range.first && code <= range.last; });
}

// Several scripts use U+200C and U+200D within words; behind ASCII they have no meaning.
bool is_joiner(std::string_view character) { return character == "\u200c" || character == "\u200d"; }

}  // namespace

std::string to_hex(std::string_view bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

}  // namespace hutch
