// Writes options and settings about paths.
#include "policy/path_option.h"

#include "base/text.h"
#include "policy/glob.h"

namespace hutch::policy {

namespace {

// A lone backslash is a plain character where no wildcard makes the entry a pattern (policy/rules.cc, make_rule).
std::string literal_entry(std::string_view path) {
  const bool is_pattern = has_wildcard(path) || has_escaped_wildcard(path);
  return is_pattern ? escape_wildcards(path) : std::string(path);
}

}  // namespace

std::string path_option(std::string_view option, std::string_view path) {
  return cat({option, " ", shell_word(literal_entry(path))});
}

std::string path_setting(std::string_view list, std::string_view path) {
  std::string text;
  for (const char c : literal_entry(path)) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return cat({list, " [\"", printable(text, std::string::npos), "\"]"});
}

}  // namespace hutch::policy
