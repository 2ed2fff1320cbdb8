// Splits a shell line into commands and words.
#include "policy/git/shell_line.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

namespace hutch::policy {

namespace {

constexpr int kDepthMax = 6;  // of defaults in defaults
constexpr std::size_t kFormMax = 4096;  // of one form with an expansion in it: no path is longer

std::size_t end_of_nested(std::string_view line, std::size_t open);
std::size_t end_of_name(std::string_view line, std::size_t begin);

}  // namespace

std::optional<std::vector<ShellForms>> ShellLine::next() {
  static constexpr std::string_view kBetweenWords = " \t\r<>";
  static constexpr std::string_view kBetweenCommands = "\n;|&(){}";
  pass(std::exchange(passed_, '\0'));
  for (; at_ < line_.size(); ++at_) {
    const char c = line_[at_];
    if (quote_ != 0 && c == quote_) {
      quote_ = 0;
    } else if (quote_ == 0 && (c == '\'' || c == '"')) {
      quote_ = c;
    } else if (quote_ != '\'' && c == '\\' && at_ + 1 < line_.size()) {
      append(line_[++at_]);
    } else if (quote_ != '\'' && (c == '$' || c == '`')) {
      take_expansion();
    } else if (quote_ == 0 && c == '#' && word_.front().empty()) {
      at_ = std::min(line_.find('\n', at_), line_.size()) - 1;
    } else if (quote_ == 0 && kBetweenWords.contains(c)) {
      end_word();
    } else if (quote_ == 0 && kBetweenCommands.contains(c)) {
      end_word();
      if (words_.empty()) {
        pass(c);
        continue;
      }
      ++at_;
      passed_ = c;
      return std::exchange(words_, {});
    } else {
      append(c);
    }
  }
  end_word();
  if (words_.empty()) return std::nullopt;
  return std::exchange(words_, {});
}

void ShellLine::pass(char c) {
  if (c == '(') expander_.begin_subshell();
  if (c == ')') expander_.end_subshell();
}

void ShellLine::append(char c) {
  for (std::string& form : word_) form += c;
}

void ShellLine::append(const ShellForms& forms) {
  ShellForms longer;
  for (const std::string& form : word_) {
    for (const std::string& more : forms) {
      const bool fits = longer.size() < kShellFormsMax && form.size() + more.size() <= kFormMax;
      if (fits) longer.push_back(form + more);
    }
  }
  if (!longer.empty()) word_ = std::move(longer);
}

void ShellLine::end_word() {
  std::erase(word_, std::string());
  if (!word_.empty()) words_.push_back(std::move(word_));
  word_.assign(1, std::string());
}

// From "$" or "`" to the last character of the expansion.
void ShellLine::take_expansion() {
  const char next = at_ + 1 < line_.size() ? line_[at_ + 1] : '\0';
  if (line_[at_] == '`') {
    const std::size_t end = std::min(line_.find('`', at_ + 1), line_.size());
    append(expander_.substituted(line_.substr(at_ + 1, end - at_ - 1), depth_));
    at_ = end;
  } else if (next == '(' || next == '{') {
    const std::size_t end = end_of_nested(line_, at_ + 1);
    const std::string_view inner = line_.substr(at_ + 2, end - at_ - 2);
    append(next == '(' ? expander_.substituted(inner, depth_) : parameter(inner));
    at_ = end;
  } else {
    const std::size_t end = end_of_name(line_, at_ + 1);
    if (end == at_ + 1) return append('$');
    append(expander_.variable(line_.substr(at_ + 1, end - at_ - 1)));
    at_ = end - 1;
  }
}

// ${NAME}, ${NAME:-default}: how a value is cut is not considered.
ShellForms ShellLine::parameter(std::string_view inner) {
  if (inner.starts_with('!') || inner.starts_with('#')) inner.remove_prefix(1);
  const std::size_t end = end_of_name(inner, 0);
  ShellForms forms = expander_.variable(inner.substr(0, end));
  std::string_view rest = inner.substr(end);
  if (rest.starts_with(':')) rest.remove_prefix(1);
  if (rest.empty() || !std::string_view("-=+").contains(rest.front())) return forms;
  rest.remove_prefix(1);
  if (depth_ >= kDepthMax) return forms;
  if (const auto words = ShellLine(rest, expander_, depth_ + 1).next()) {
    const std::size_t room = kShellFormsMax - std::min(forms.size(), kShellFormsMax);
    std::copy_n(words->front().begin(), std::min(room, words->front().size()), std::back_inserter(forms));
  }
  return forms;
}

namespace {

// The parenthesis or brace that closes the one at `open`, outside of quotes; the line's end if there is none.
std::size_t end_of_nested(std::string_view line, std::size_t open) {
  std::string inside;
  for (std::size_t at = open; at < line.size(); ++at) {
    const char c = line[at];
    const char in = inside.empty() ? '\0' : inside.back();
    const bool quoted = in == '\'' || in == '"';
    if (quoted && c == in) {
      inside.pop_back();
    } else if (in == '\'') {
      continue;
    } else if (c == '\\') {
      ++at;
    } else if (c == '"' || (c == '\'' && !quoted)) {
      inside += c;
    } else if ((c == '(' || c == '{') && (!quoted || line[at - 1] == '$')) {
      inside += c == '(' ? ')' : '}';
    } else if (!quoted && c == in) {
      inside.pop_back();
    }
    if (inside.empty()) return at;
  }
  return line.size();
}

// Of NAME, of a number, or of one sign such as "@".
std::size_t end_of_name(std::string_view line, std::size_t begin) {
  static constexpr std::string_view kSigns = "@*#?!-";
  if (begin >= line.size()) return begin;
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::size_t end = begin;
  while (end < line.size() && is_part(line[end])) ++end;
  if (end == begin && kSigns.contains(line[begin])) return begin + 1;
  const bool is_number = std::isdigit(static_cast<unsigned char>(line[begin])) != 0;
  return is_number ? begin + 1 : end;
}

}  // namespace

}  // namespace hutch::policy
