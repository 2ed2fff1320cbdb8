// System files that a program reads only if root or its own user owns them.
#include "plan/paths/checked_files.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace hutch::plan {

namespace {

constexpr std::string_view kBlanks = " \t\r\f\v";

void skip_blanks(std::string_view& text) { text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size())); }

// Returns the next argument, as argv_split() of ssh's misc.c takes it from a line: quotes and backslashes keep blanks.
std::optional<std::string> next_argument(std::string_view& text) {
  skip_blanks(text);
  if (text.empty() || text.front() == '#') return std::nullopt;
  std::string argument;
  char quote = '\0';
  while (!text.empty() && (quote != '\0' || kBlanks.find(text.front()) == kBlanks.npos)) {
    const char character = text.front();
    text.remove_prefix(1);
    const bool escapes =
        character == '\\' && !text.empty() &&
        (text.front() == '"' || text.front() == '\'' || text.front() == '\\' || (quote == '\0' && text.front() == ' '));
    if (escapes) {
      argument += text.front();
      text.remove_prefix(1);
    } else if (quote == '\0' && (character == '"' || character == '\'')) {
      quote = character;
    } else if (quote != '\0' && character == quote) {
      quote = '\0';
    } else {
      argument += character;
    }
  }
  return argument;
}

// In a line that includes files, returns the part after the keyword, blanks and at most one "="; else nothing.
std::optional<std::string_view> included_part(std::string_view line) {
  static constexpr std::string_view kKeyword = "include";
  skip_blanks(line);
  const auto is_same = [](char typed, char letter) { return (typed | 0x20) == letter; };
  if (line.size() <= kKeyword.size() || !std::ranges::equal(line.substr(0, kKeyword.size()), kKeyword, is_same)) {
    return std::nullopt;
  }
  line.remove_prefix(kKeyword.size());
  if (line.front() != '=' && kBlanks.find(line.front()) == kBlanks.npos) return std::nullopt;
  skip_blanks(line);
  if (line.starts_with('=')) line.remove_prefix(1);
  return line;
}

}  // namespace

std::vector<std::string> includes_of(const CheckedConfig& config, std::string_view text) {
  std::vector<std::string> includes;
  for (const std::string_view line : split(text.substr(0, kCheckedBytesMax), '\n')) {
    std::optional<std::string_view> rest = included_part(line);
    while (rest && includes.size() < kIncludesMax) {
      std::optional<std::string> argument = next_argument(*rest);
      if (!argument) break;
      const bool is_known = !argument->empty() && argument->front() != '~' && argument->find('\0') == argument->npos;
      if (!is_known) continue;
      includes.push_back(argument->front() == '/' ? *std::move(argument) : cat({config.directory, "/", *argument}));
    }
  }
  return includes;
}

bool is_roots_alone(std::uint32_t owner, std::uint32_t mode) {
  static constexpr std::uint32_t kWritableByOthers = 022;
  return owner == 0 && (mode & kWritableByOthers) == 0;
}

}  // namespace hutch::plan
