// Reads git's configuration strictly, as git_parse_source() of git's config.c does.
#include "plan/git/config_text.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace hutch::plan {

namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_config_key(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-'; }
bool is_space(char c) { return c == ' ' || c == '\t'; }
char lowered(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

bool is_readable(char c) {
  static constexpr unsigned char kDelete = 0x7f;
  const auto byte = static_cast<unsigned char>(c);
  return c == '\n' || c == '\t' || (byte >= ' ' && byte != kDelete);
}

class StrictGitConfigReader {
 public:
  explicit StrictGitConfigReader(std::string_view text) : text_(text) {}

  std::optional<std::vector<GitConfigEntry>> read() {
    while (at_ < text_.size()) {
      const char next = take();
      bool read = true;
      if (next == '#' || next == ';') {
        skip_comment();
      } else if (next == '[') {
        read = read_section();
      } else if (next != '\n' && !is_space(next)) {
        read = is_letter(next) && read_entry(next);
      }
      if (!read) return std::nullopt;
    }
    return std::move(entries_);
  }

 private:
  // git takes the end of the file for a line end.
  char peek() const { return at_ < text_.size() ? text_[at_] : '\n'; }
  char take() {
    const char c = peek();
    ++at_;
    return c;
  }
  void skip_comment() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  bool read_section() {
    std::string name;
    for (char c = take(); c != ']'; c = take()) {
      if (is_space(c)) {
        name += '.';
        if (!read_subsection(name)) return false;
        break;
      }
      if (!is_config_key(c) && c != '.') return false;
      name += lowered(c);
    }
    // [section.sub] is an older form; git joins both with a dot, and splits at the first one.
    const std::size_t dot = name.find('.');
    section_ = name.substr(0, dot);
    subsection_ = dot == std::string::npos ? std::string() : name.substr(dot + 1);
    return !section_.empty() && (dot == std::string::npos || !subsection_.empty());
  }

  bool read_subsection(std::string& name) {
    while (is_space(peek())) ++at_;
    if (take() != '"') return false;
    for (char c = take(); c != '"'; c = take()) {
      if (c == '\\') c = take();
      if (c == '\n') return false;
      name += c;
    }
    return take() == ']';
  }

  bool read_entry(char first) {
    if (section_.empty()) return false;
    std::string key(1, lowered(first));
    while (is_config_key(peek())) key += lowered(take());
    while (is_space(peek())) ++at_;
    std::optional<std::string> value;
    const char after = take();
    if (after != '\n') {
      if (after != '=') return false;
      value = read_value();
      if (!value) return false;
    }
    entries_.push_back({section_, subsection_, std::move(key), std::move(value)});
    return true;
  }

  std::optional<std::string> read_value() {
    std::string value;
    std::string spaces;  // they count if something follows
    bool quoted = false;
    for (;;) {
      char c = take();
      if (c == '\n') return quoted ? std::nullopt : std::optional(std::move(value));
      if (!quoted && is_space(c)) {
        if (!value.empty()) spaces += c;
        continue;
      }
      if (!quoted && (c == '#' || c == ';')) {
        skip_comment();
        continue;
      }
      value += std::exchange(spaces, {});
      if (c == '"') {
        quoted = !quoted;
        continue;
      }
      if (c == '\\') {
        c = take();
        if (c == '\n') continue;
        if (!kEscapes.contains(c)) return std::nullopt;
        c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'b' ? '\b' : c;
      }
      value += c;
    }
  }

  static constexpr std::string_view kEscapes = "tbn\\\"";

  std::string_view text_;
  std::size_t at_ = 0;
  std::string section_;
  std::string subsection_;
  std::vector<GitConfigEntry> entries_;
};

}  // namespace

std::optional<std::vector<GitConfigEntry>> read_git_config(std::string_view text) {
  if (!std::ranges::all_of(text, is_readable)) return std::nullopt;
  return StrictGitConfigReader(text).read();
}

}  // namespace hutch::plan
