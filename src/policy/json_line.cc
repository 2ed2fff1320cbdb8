// Walks JSON text that is known to be JSON, without a tree: a tree has no lines.
#include "policy/json_line.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace hutch::policy {

namespace {

class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) {}

  std::size_t find(std::span<const std::string> path) {
    skip_space();
    std::size_t found = at_;
    while (!path.empty() && enter(path.front(), found)) path = path.subspan(1);
    return found;
  }

 private:
  // Stands at a value; goes to its part `name` and says where that begins, its name included.
  bool enter(const std::string& name, std::size_t& found) {
    const char open = peek();
    if (open != '{' && open != '[') return false;
    ++at_;
    for (std::size_t index = 0;; ++index) {
      skip_space();
      if (peek() == '}' || peek() == ']' || at_ >= text_.size()) return false;
      const std::size_t begin = at_;
      const std::string own = open == '{' ? member_name() : std::to_string(index);
      if (own == name) {
        found = begin;
        return true;
      }
      skip_value();
      skip_space();
      if (peek() == ',') ++at_;
    }
  }

  std::string member_name() {
    const std::size_t begin = at_;
    skip_string();
    const auto name = parse_json(text_.substr(begin, at_ - begin));
    skip_space();
    ++at_;  // the colon
    skip_space();
    return name.is_string() ? name.get<std::string>() : std::string();
  }

  void skip_value() {
    int depth = 0;
    do {
      skip_space();
      const char c = peek();
      if (c == '"') {
        skip_string();
      } else if (c == '{' || c == '[') {
        ++depth;
        ++at_;
      } else if (c == '}' || c == ']') {
        --depth;
        ++at_;
      } else if (c == ',' || c == ':') {
        ++at_;
      } else {
        at_ = std::min(text_.find_first_of(",:]} \t\r\n", at_), text_.size());
      }
    } while (depth > 0 && at_ < text_.size());
  }

  void skip_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
  }

  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::size_t line_of(std::string_view text, std::span<const std::string> path) {
  const std::size_t at = std::min(Walk(text).find(path), text.size());
  return static_cast<std::size_t>(std::ranges::count(text.substr(0, at), '\n')) + 1;
}

}  // namespace hutch::policy
