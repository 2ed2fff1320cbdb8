// Wildcards of path entries.
#include "policy/glob.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "base/text.h"

namespace hutch::policy {

namespace {

constexpr std::string_view kSpecial = "*?[\\";

struct Bracket {
  bool matched = false;
  std::size_t length = 0;  // of the whole expression, with both brackets
};

std::optional<Bracket> read_bracket(std::string_view pattern, char character);
bool matches_parts(std::span<const std::string_view> pattern, std::span<const std::string_view> path);

}  // namespace

bool has_wildcard(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '*' || text[i] == '?' || text[i] == '[') {
      return true;
    }
  }
  return false;
}

bool has_escaped_wildcard(std::string_view text) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] != '\\') continue;
    ++i;
    if (text[i] == '*' || text[i] == '?' || text[i] == '[') return true;
  }
  return false;
}

Status check_pattern(std::string_view pattern) {
  const auto wrong = [&](std::string_view reason) {
    return fail(Error::invalid(cat({"\"", printable(pattern), "\": ", reason})));
  };
  if (pattern.ends_with('/')) return wrong("a pattern cannot end in /; leave it out");
  bool wild = false;
  for (std::string_view part : split(pattern, '/')) {
    if (part == ".." && wild) return wrong("\"..\" cannot follow a wildcard");
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i] == '\\') {
        if (++i == part.size()) return wrong("a backslash ends the name");
      } else if (part[i] == '[') {
        const std::optional<Bracket> bracket = read_bracket(part.substr(i), 'x');
        if (!bracket) return wrong("a [ is not closed; write {\"path\": ..., \"literal\": true} for a file so named");
        i += bracket->length - 1;
      }
    }
    wild = wild || has_wildcard(part);
  }
  return {};
}

std::string escape_wildcards(std::string_view text) {
  std::string out;
  for (const char character : text) {
    if (kSpecial.find(character) != std::string_view::npos) out += '\\';
    out += character;
  }
  return out;
}

std::string unescape(std::string_view pattern) {
  std::string out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    out += pattern[i];
  }
  return out;
}

std::string literal_part(std::string_view pattern) {
  std::size_t end = 0;
  for (std::size_t next = 0; end < pattern.size(); end = next) {
    next = std::min(pattern.find('/', end + 1), pattern.size());
    if (has_wildcard(pattern.substr(end, next - end))) break;
  }
  return unescape(pattern.substr(0, end));
}

// Backtracks to the last star alone, which is enough and keeps the time at pattern x name.
bool matches_component(std::string_view pattern, std::string_view name) {
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_name = 0;
  while (n < name.size()) {
    std::size_t step = 0;
    if (p < pattern.size()) {
      if (pattern[p] == '*') {
        star = p++;
        star_name = n;
        continue;
      }
      if (pattern[p] == '?') {
        step = 1;
      } else if (pattern[p] == '[') {
        const std::optional<Bracket> bracket = read_bracket(pattern.substr(p), name[n]);
        if (bracket && bracket->matched) step = bracket->length;
      } else if (pattern[p] == '\\' && p + 1 < pattern.size()) {
        if (pattern[p + 1] == name[n]) step = 2;
      } else if (pattern[p] == name[n]) {
        step = 1;
      }
    }
    if (step > 0) {
      p += step;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++star_name;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool matches_path(std::string_view pattern, std::string_view path) {
  const std::vector<std::string_view> pattern_parts = split(pattern, '/');
  const std::vector<std::string_view> path_parts = split(path, '/');
  return matches_parts(pattern_parts, path_parts);
}

namespace {

// "[abc]", "[a-z]", "[!a]", "[^a]"; a "]" that comes first is a member.
std::optional<Bracket> read_bracket(std::string_view pattern, char character) {
  std::size_t i = 1;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  bool inside = false;
  for (std::size_t first = i; i < pattern.size(); ++i) {
    if (pattern[i] == ']' && i > first) return Bracket{inside != negated, i + 1};
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
      inside = inside || (pattern[i] <= character && character <= pattern[i + 2]);
      i += 2;
    } else {
      inside = inside || pattern[i] == character;
    }
  }
  return std::nullopt;
}

// As matches_component, with ** in the part of the star.
bool matches_parts(std::span<const std::string_view> pattern, std::span<const std::string_view> path) {
  std::size_t p = 0;
  std::size_t n = 0;
  std::optional<std::size_t> star;
  std::size_t star_path = 0;
  while (n < path.size()) {
    if (p < pattern.size() && pattern[p] == "**") {
      star = p++;
      star_path = n;
    } else if (p < pattern.size() && matches_component(pattern[p], path[n])) {
      ++p;
      ++n;
    } else if (star) {
      p = *star + 1;
      n = ++star_path;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == "**") ++p;
  return p == pattern.size();
}

}  // namespace

}  // namespace hutch::policy
