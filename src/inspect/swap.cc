// Placeholders in requests.
#include "inspect/swap.h"

#include <algorithm>

#include "base/base64.h"
#include "base/text.h"

namespace hutch::inspect {

namespace {

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

std::string escaped(std::string_view value) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string made;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    if (plain) {
      made += c;
    } else {
      made += cat({"%", kDigits.substr(byte >> 4U, 1), kDigits.substr(byte & 15U, 1)});
    }
  }
  return made;
}

std::string swapped(const Placeholders& placeholders, std::string text) {
  for (const auto& [token, value] : placeholders) text = replaced(std::move(text), token, value);
  return text;
}

// "Basic dXNlcjpwYXNz": absent where it is something else.
std::string swap_basic(const Placeholders& placeholders, const std::string& value) {
  static constexpr std::string_view kScheme = "basic ";
  if (value.size() <= kScheme.size() || !same_name(std::string_view(value).substr(0, kScheme.size()), kScheme)) {
    return value;
  }
  const std::size_t begin = value.find_first_not_of(' ', kScheme.size());
  if (begin == std::string::npos) return value;
  const auto pair = from_base64(std::string_view(value).substr(begin));
  if (!pair) return value;
  const std::string changed = swapped(placeholders, *pair);
  return changed == *pair ? value : cat({value.substr(0, begin), to_base64(changed)});
}

}  // namespace

bool is_echoed(std::string_view method) { return same_name(method, "TRACE") || same_name(method, "TRACK"); }

void swap_headers(const Placeholders& placeholders, Headers& headers) {
  if (placeholders.empty()) return;
  for (Header& header : headers) {
    header.value = swapped(placeholders, std::move(header.value));
    if (same_name(header.name, "Authorization")) header.value = swap_basic(placeholders, header.value);
  }
}

void hide_values(const Placeholders& placeholders, Headers& headers) {
  for (const auto& [token, value] : placeholders) {
    const std::string in_url = escaped(value);
    for (Header& header : headers) {
      header.value = replaced(std::move(header.value), value, token);
      if (in_url != value) header.value = replaced(std::move(header.value), in_url, token);
    }
  }
}

std::string swap_target(const Placeholders& placeholders, std::string target) {
  for (const auto& [token, value] : placeholders) target = replaced(std::move(target), token, escaped(value));
  return target;
}

void swap_in_place(const Placeholders& placeholders, std::string& body) {
  for (const auto& [token, value] : placeholders) {
    if (token.size() == value.size()) body = replaced(std::move(body), token, value);
  }
}

std::size_t begun_at_end(const Placeholders& placeholders, std::string_view body) {
  std::size_t longest = 0;
  for (const auto& [token, value] : placeholders) {
    if (token.size() != value.size()) continue;
    for (std::size_t size = std::min(body.size(), token.size() - 1); size > longest; --size) {
      if (body.ends_with(std::string_view(token).substr(0, size))) longest = size;
    }
  }
  return longest;
}

}  // namespace hutch::inspect
