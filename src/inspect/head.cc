// The head of an HTTP/1 message.
#include "inspect/head.h"

#include <algorithm>

#include "base/text.h"
#include "inspect/limits.h"

namespace hutch::inspect {

namespace {

char lower(char character) {
  return character >= 'A' && character <= 'Z' ? static_cast<char>(character + ('a' - 'A')) : character;
}

std::unexpected<Error> malformed(std::string_view why) { return fail(Error::invalid(std::string(why))); }

Status check_line(std::string_view line);
Status check_request_line(std::string_view line);
Status check_status_line(std::string_view line);
Status check_field_line(std::string_view line);
std::string_view trimmed(std::string_view text);

}  // namespace

Result<std::optional<std::size_t>> measure_head(std::string_view bytes, MessageKind kind) {
  std::size_t start = 0;
  std::size_t lines = 0;
  for (;;) {
    const std::size_t end = bytes.find('\n', start);
    if (end == std::string_view::npos) break;
    if (end >= limits::kHeadBytesMax) return malformed("the head is too large");
    if (end == start || bytes[end - 1] != '\r') return malformed("a line does not end in CRLF");
    const std::string_view line = bytes.substr(start, end - 1 - start);
    TRY(check_line(line));
    start = end + 1;
    if (lines == 0) {
      if (line.empty()) return malformed("an empty line before the first one");
      TRY(kind == MessageKind::kRequest ? check_request_line(line) : check_status_line(line));
    } else if (line.empty()) {
      return std::optional<std::size_t>(start);
    } else {
      TRY(check_field_line(line));
    }
    if (++lines > limits::kHeadersMax + 1) return malformed("too many fields");
  }
  if (bytes.size() >= limits::kHeadBytesMax) return malformed("the head is too large");
  return std::optional<std::size_t>();
}

Status check_framing(const Head& head) {
  const std::size_t lengths = count_headers(head.headers, "Content-Length");
  const std::size_t codings = count_headers(head.headers, "Transfer-Encoding");
  if (lengths > 1) return malformed("Content-Length more than once");
  if (codings > 1) return malformed("Transfer-Encoding more than once");
  if (lengths > 0 && codings > 0) return malformed("Content-Length and Transfer-Encoding together");
  if (lengths > 0) {
    const std::string& value = *find_header(head.headers, "Content-Length");
    const auto is_digit = [](char character) { return character >= '0' && character <= '9'; };
    if (value.empty() || value.size() > 18 || !std::ranges::all_of(value, is_digit)) {
      return malformed("Content-Length is not a number");
    }
  }
  if (codings > 0) {
    if (head.version < 11) return malformed("Transfer-Encoding in HTTP/1.0");
    if (!same_name(*find_header(head.headers, "Transfer-Encoding"), "chunked")) {
      return malformed("Transfer-Encoding is not chunked alone");
    }
  }
  return {};
}

bool same_name(std::string_view a, std::string_view b) { return std::ranges::equal(a, b, {}, lower, lower); }

const std::string* find_header(const Headers& headers, std::string_view name) {
  const auto found = std::ranges::find_if(headers, [&](const Header& header) { return same_name(header.name, name); });
  return found == headers.end() ? nullptr : &found->value;
}

std::size_t count_headers(const Headers& headers, std::string_view name) {
  const auto count = std::ranges::count_if(headers, [&](const Header& header) { return same_name(header.name, name); });
  return static_cast<std::size_t>(count);
}

void remove_header(Headers& headers, std::string_view name) {
  std::erase_if(headers, [&](const Header& header) { return same_name(header.name, name); });
}

bool has_token(const Headers& headers, std::string_view name, std::string_view token) {
  for (const Header& header : headers) {
    if (!same_name(header.name, name)) continue;
    for (const std::string_view part : split(header.value, ',')) {
      if (same_name(trimmed(part), token)) return true;
    }
  }
  return false;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') || std::string_view("!#$%&'*+-.^_`|~").contains(character);
  });
}

bool is_field_value(std::string_view text) {
  return std::ranges::all_of(text, [](char character) {
    const auto byte = static_cast<unsigned char>(character);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

namespace {

Status check_line(std::string_view line) {
  if (!is_field_value(line)) return malformed("a control byte");
  return {};
}

Status check_request_line(std::string_view line) {
  const std::vector<std::string_view> parts = split(line, ' ');
  if (parts.size() != 3) return malformed("the request line is not a method, a target and a version");
  if (!is_token(parts[0]) || parts[0].size() > limits::kMethodBytesMax) return malformed("the method is malformed");
  const auto is_visible = [](char character) { return character > 0x20 && character < 0x7f; };
  if (parts[1].empty() || !std::ranges::all_of(parts[1], is_visible)) return malformed("the target is malformed");
  if (parts[2] != "HTTP/1.1" && parts[2] != "HTTP/1.0") return malformed("the version is not HTTP/1.1 or HTTP/1.0");
  return {};
}

Status check_status_line(std::string_view line) {
  if (!line.starts_with("HTTP/1.1 ") && !line.starts_with("HTTP/1.0 ")) {
    return malformed("the version is not HTTP/1.1 or HTTP/1.0");
  }
  return {};
}

Status check_field_line(std::string_view line) {
  if (line.front() == ' ' || line.front() == '\t') return malformed("a field that goes on in the next line");
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return malformed("a field without a colon");
  if (!is_token(line.substr(0, colon))) return malformed("the name of a field is malformed");
  return {};
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

}  // namespace hutch::inspect
