// The forms of a value, and finding them.
#include "secret/scrubber.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <utility>

#include "base/base64.h"
#include "base/text.h"

namespace hutch::secret {

namespace {

std::string in_hex(std::string_view bytes, std::string_view digits) {
  std::string made;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    made += digits[byte >> 4U];
    made += digits[byte & 15U];
  }
  return made;
}

enum class Plain { kUnreserved, kAlsoPath, kForm };

// kUnreserved is what quote(), encodeURIComponent and curl write; kAlsoPath leaves what a path may hold; kForm is how a
// form is sent.
std::string in_url(std::string_view bytes, std::string_view digits, Plain plain) {
  std::string made;
  for (const char c : bytes) {
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    const std::string_view others = plain == Plain::kAlsoPath ? "-_.~!*'()/:@$&+,;=" : "-_.~";
    if (is_word || others.contains(c)) {
      made += c;
    } else if (c == ' ' && plain == Plain::kForm) {
      made += '+';
    } else {
      made += cat({"%", in_hex({&c, 1}, digits)});
    }
  }
  return made;
}

constexpr std::string_view kLower = "0123456789abcdef";
constexpr std::string_view kUpper = "0123456789ABCDEF";

std::string json_unit(std::uint32_t unit) {
  const std::array<char, 2> bytes = {static_cast<char>(unit >> 8U), static_cast<char>(unit & 255U)};
  return cat({"\\u", in_hex({bytes.data(), bytes.size()}, kLower)});
}

// Of `text` a character at its beginning that is no ASCII, as UTF-16 in escapes; its bytes are taken from the text.
std::string json_escapes(std::string_view& text) {
  const auto byte_at = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const std::size_t size = byte_at(0) >= 0xf0 ? 4 : byte_at(0) >= 0xe0 ? 3 : 2;
  std::uint32_t point = byte_at(0) & (0xffU >> (size + 1));
  for (std::size_t at = 1; at < size && at < text.size(); ++at) point = (point << 6U) | (byte_at(at) & 0x3fU);
  text.remove_prefix(std::min(size, text.size()));
  if (point < 0x10000) return json_unit(point);
  return json_unit(0xd800 + ((point - 0x10000) >> 10U)) + json_unit(0xdc00 + ((point - 0x10000) & 0x3ffU));
}

enum class Letters { kUtf8, kAscii };

// kAscii is what Python's json.dumps writes.
std::string in_json(std::string_view text, Letters letters) {
  static constexpr std::string_view kNamed = "\"\\\n\r\t\b\f";
  static constexpr std::string_view kNames = "\"\\nrtbf";
  std::string made;
  while (!text.empty()) {
    const char c = text.front();
    if (static_cast<unsigned char>(c) >= 0x80 && letters == Letters::kAscii) {
      made += json_escapes(text);
      continue;
    }
    text.remove_prefix(1);
    if (const std::size_t named = kNamed.find(c); named != std::string_view::npos) {
      made += cat({"\\", kNames.substr(named, 1)});
    } else if (static_cast<unsigned char>(c) < 0x20) {
      made += json_unit(static_cast<unsigned char>(c));
    } else {
      made += c;
    }
  }
  return made;
}

std::string with_each(std::string_view text, std::span<const std::pair<char, std::string_view>> instead) {
  std::string made;
  for (const char c : text) {
    const auto found = std::ranges::find(instead, c, &std::pair<char, std::string_view>::first);
    made += found == instead.end() ? std::string_view(&c, 1) : found->second;
  }
  return made;
}

std::string in_html(std::string_view text) {
  static constexpr std::array<std::pair<char, std::string_view>, 4> kInstead = {
      {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}}};
  return with_each(text, kInstead);
}

// Within single quotes, as a shell's own trace has it.
std::string in_shell(std::string_view text) {
  static constexpr std::array<std::pair<char, std::string_view>, 1> kInstead = {{{'\'', R"('\'')"}}};
  return with_each(text, kInstead);
}

// What base64 makes of the value whatever stands before and after it: its digits that depend on nothing else. `shift`
// bytes of other text are before it in its first group of three.
std::string in_base64(std::string_view value, std::size_t shift) {
  const std::string whole = to_base64(cat({std::string(shift, '\0'), value}));
  const std::size_t bits_before = shift * 8;
  const std::size_t bits_after = bits_before + value.size() * 8;
  const std::size_t first = (bits_before + 5) / 6;
  const std::size_t last = bits_after / 6;
  return last > first ? whole.substr(first, last - first) : std::string();
}

std::string url_alphabet(std::string text) {
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

bool is_line_end(char c) { return c == '\n' || c == '\r'; }

std::set<std::string> forms_of(const std::string& value) {
  std::set<std::string> written = {value,
                                   in_hex(value, kLower),
                                   in_hex(value, kUpper),
                                   in_json(value, Letters::kUtf8),
                                   in_json(value, Letters::kAscii),
                                   in_html(value),
                                   in_shell(value)};
  for (const Plain plain : {Plain::kUnreserved, Plain::kAlsoPath, Plain::kForm}) {
    written.insert(in_url(value, kLower, plain));
    written.insert(in_url(value, kUpper, plain));
  }
  for (std::size_t shift = 0; shift < 3; ++shift) {
    const std::string encoded = in_base64(value, shift);
    written.insert(encoded);
    written.insert(url_alphabet(encoded));
  }
  std::set<std::string> forms;
  for (std::string form : written) {
    std::erase_if(form, is_line_end);
    if (form.size() >= kScrubbedBytesMin) forms.insert(std::move(form));
  }
  return forms;
}

// A text without its line ends, and where each of its bytes stood.
class Joined {
 public:
  explicit Joined(std::string_view whole) {
    text_.reserve(whole.size());
    for (const char c : whole) {
      if (is_line_end(c)) {
        left_out_.push_back(text_.size());
      } else {
        text_ += c;
      }
    }
  }
  const std::string& text() const { return text_; }
  // Of the byte at `at`, of the whole text.
  std::size_t place_of(std::size_t at) const {
    return at + static_cast<std::size_t>(std::ranges::upper_bound(left_out_, at) - left_out_.begin());
  }

 private:
  std::string text_;
  std::vector<std::size_t> left_out_;  // before which byte of the text_, in order
};

}  // namespace

Scrubber::Scrubber(const std::vector<Secret>& secrets) {
  for (const Secret& secret : secrets) {
    if (secret.value.size() < kScrubbedBytesMin) continue;
    for (const std::string& form : forms_of(secret.value))
      forms_.push_back({form, cat({"[REDACTED:", secret.name, "]"})});
  }
  std::ranges::stable_sort(forms_, [](const Form& a, const Form& b) { return a.text.size() > b.text.size(); });
}

// The first in the text; of several at one place the longest. Where each form is found next is kept: a text full of one
// value is not gone through again for the other forms at each.
Scrubber::Replaced Scrubber::replace(std::string_view whole) const {
  Replaced replaced;
  const Joined joined(whole);
  const std::string& text = joined.text();
  std::vector<std::size_t> next;
  for (const Form& form : forms_) next.push_back(text.find(form.text));
  while (!next.empty()) {
    const auto first = std::ranges::min_element(next);
    if (*first == std::string::npos) break;
    const Form& form = forms_[static_cast<std::size_t>(first - next.begin())];
    const std::size_t end = *first + form.text.size();
    const std::size_t begin = joined.place_of(*first);
    replaced.text += cat({whole.substr(replaced.used, begin - replaced.used), form.instead});
    replaced.used = joined.place_of(end - 1) + 1;
    for (std::size_t i = 0; i < next.size(); ++i) {
      if (next[i] < end) next[i] = text.find(forms_[i].text, end);
    }
  }
  return replaced;
}

std::string Scrubber::scrub(std::string_view text) const {
  Replaced replaced = replace(text);
  return std::move(replaced.text) += text.substr(replaced.used);
}

// Behind a line end few bytes are not waited with: a line that happens to end so would be shown when the next one
// comes.
std::size_t Scrubber::begun(std::string_view whole) const {
  static constexpr std::size_t kBeforeLineEndMin = 4;
  const Joined joined(whole);
  const std::string_view text = joined.text();
  std::size_t longest = 0;
  for (const Form& form : forms_) {
    const std::size_t most = std::min(text.size(), form.text.size() - 1);
    for (std::size_t size = most; size > longest; --size) {
      if (text.ends_with(std::string_view(form.text).substr(0, size))) longest = size;
    }
  }
  const bool is_line = !whole.empty() && is_line_end(whole.back());
  if (longest == 0 || (is_line && longest < kBeforeLineEndMin)) return 0;
  return whole.size() - joined.place_of(text.size() - longest);
}

std::string ScrubbedStream::take(std::string_view piece) {
  held_ += piece;
  Scrubber::Replaced replaced = scrubber_.replace(held_);
  const std::string_view rest = std::string_view(held_).substr(replaced.used);
  const std::size_t keep = scrubber_.begun(rest);
  replaced.text += rest.substr(0, rest.size() - keep);
  held_ = std::string(rest.substr(rest.size() - keep));
  return std::move(replaced.text);
}

std::string ScrubbedStream::finish() { return std::exchange(held_, {}); }

}  // namespace hutch::secret
