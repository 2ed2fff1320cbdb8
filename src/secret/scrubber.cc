// The forms of a value, and finding them.
#include "secret/scrubber.h"

#include <algorithm>
#include <set>

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

enum class Plain { kUnreserved, kAlsoPath };

// kUnreserved is what quote(), encodeURIComponent and curl write; the other leaves what a path may hold.
std::string in_url(std::string_view bytes, std::string_view digits, Plain plain) {
  std::string made;
  for (const char c : bytes) {
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    const std::string_view others = plain == Plain::kUnreserved ? "-_.~" : "-_.~!*'()/:@$&+,;=";
    if (is_word || others.contains(c)) {
      made += c;
    } else {
      made += cat({"%", in_hex({&c, 1}, digits)});
    }
  }
  return made;
}

std::string in_json(std::string_view text) {
  std::string made;
  for (const char c : text) {
    if (c == '\n') {
      made += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') made += '\\';
    made += c;
  }
  return made;
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

std::set<std::string> forms_of(const std::string& value) {
  static constexpr std::string_view kLower = "0123456789abcdef";
  static constexpr std::string_view kUpper = "0123456789ABCDEF";
  std::set<std::string> forms = {value, in_hex(value, kLower), in_hex(value, kUpper), in_json(value)};
  for (const Plain plain : {Plain::kUnreserved, Plain::kAlsoPath}) {
    forms.insert(in_url(value, kLower, plain));
    forms.insert(in_url(value, kUpper, plain));
  }
  for (std::size_t shift = 0; shift < 3; ++shift) {
    const std::string encoded = in_base64(value, shift);
    forms.insert(encoded);
    forms.insert(url_alphabet(encoded));
  }
  std::erase_if(forms, [](const std::string& form) { return form.size() < kScrubbedBytesMin; });
  return forms;
}

}  // namespace

Scrubber::Scrubber(const std::vector<Secret>& secrets) {
  for (const Secret& secret : secrets) {
    if (secret.value.size() < kScrubbedBytesMin) continue;
    for (const std::string& form : forms_of(secret.value))
      forms_.push_back({form, cat({"[REDACTED:", secret.name, "]"})});
  }
  std::ranges::stable_sort(forms_, [](const Form& a, const Form& b) { return a.text.size() > b.text.size(); });
}

// The first in the text; of several at one place the longest.
Scrubber::Found Scrubber::find(std::string_view text, std::size_t from) const {
  Found first{.at = std::string_view::npos, .form = nullptr};
  for (const Form& form : forms_) {
    const std::size_t at =
        text.substr(0, std::min(text.size(),
                                first.at == std::string_view::npos ? text.size() : first.at + form.text.size()))
            .find(form.text, from);
    if (at < first.at) first = {at, &form};
  }
  return first;
}

std::string Scrubber::scrub(std::string_view text) const {
  std::string made;
  std::size_t from = 0;
  while (from < text.size()) {
    const Found found = find(text, from);
    if (found.form == nullptr) break;
    made += cat({text.substr(from, found.at - from), found.form->instead});
    from = found.at + found.form->text.size();
  }
  return made += text.substr(from);
}

std::size_t Scrubber::begun(std::string_view text) const {
  std::size_t longest = 0;
  for (const Form& form : forms_) {
    const std::size_t most = std::min(text.size(), form.text.size() - 1);
    for (std::size_t size = most; size > longest; --size) {
      if (text.ends_with(std::string_view(form.text).substr(0, size))) longest = size;
    }
  }
  return longest;
}

std::string ScrubbedStream::take(std::string_view piece) {
  held_ += piece;
  std::string made;
  std::size_t from = 0;
  for (;;) {
    const Scrubber::Found found = scrubber_.find(held_, from);
    if (found.form == nullptr) break;
    made += cat({std::string_view(held_).substr(from, found.at - from), found.form->instead});
    from = found.at + found.form->text.size();
  }
  const std::string_view rest = std::string_view(held_).substr(from);
  const std::size_t keep = scrubber_.begun(rest);
  made += rest.substr(0, rest.size() - keep);
  held_ = std::string(rest.substr(rest.size() - keep));
  return made;
}

std::string ScrubbedStream::finish() { return std::exchange(held_, {}); }

}  // namespace hutch::secret
