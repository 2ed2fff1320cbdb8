// Forms of several files from bytes as they come.
#include "server/protocol/multipart.h"

#include <algorithm>

#include "base/text.h"
#include "server/protocol/http_message.h"

namespace hutch::server {

namespace {

constexpr std::size_t kBoundaryBytesMax = 70;  // RFC 2046, 5.1.1
constexpr std::size_t kPreambleBytesMax = 1024;

bool begins_with(std::string_view text, std::string_view lower_prefix) {
  return text.size() >= lower_prefix.size() &&
         std::ranges::equal(text.substr(0, lower_prefix.size()), lower_prefix, {}, http::ascii_lower);
}

// A quoted text's end; `text` begins behind its first quote. A quote is written \" or, by browsers, %22.
std::size_t quoted_end(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' && (i == 0 || text[i - 1] != '\\')) return i;
  }
  return std::string_view::npos;
}

// The value of a parameter of a header's field: `; name="value"`. The field may hold quoted semicolons.
std::optional<std::string> parameter(std::string_view field, std::string_view name) {
  std::size_t at = field.find(';');
  while (at != std::string_view::npos && at < field.size()) {
    field = http::trimmed(field.substr(at + 1));
    const std::size_t equals = field.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const bool found = equals == name.size() && begins_with(field, name);
    const std::string_view rest = field.substr(equals + 1);
    std::string_view value;
    if (rest.starts_with('"')) {
      const std::size_t end = quoted_end(rest.substr(1));
      if (end == std::string_view::npos) return std::nullopt;
      value = rest.substr(1, end);
      at = equals + end + 3;
      if (at < field.size() && field[at] != ';') return std::nullopt;
    } else {
      at = std::min(field.find(';'), field.size());
      value = http::trimmed(field.substr(equals + 1, at - equals - 1));
    }
    if (found) return std::string(value);
  }
  return std::nullopt;
}

std::string unescaped(std::string_view text) {
  static constexpr std::pair<std::string_view, char> kEscapes[] = {
      {"%22", '"'}, {"%0D", '\r'}, {"%0A", '\n'}, {"\\\"", '"'}};
  std::string plain;
  while (!text.empty()) {
    const auto escape = std::ranges::find_if(kEscapes, [&](const auto& one) { return text.starts_with(one.first); });
    const bool found = escape != std::end(kEscapes);
    plain += found ? escape->second : text.front();
    text.remove_prefix(found ? escape->first.size() : 1);
  }
  return plain;
}

Result<MultipartReader::Part> part_of(std::string_view head) {
  constexpr std::string_view kDisposition = "content-disposition:";
  while (!head.empty()) {
    const std::size_t end = std::min(head.find("\r\n"), head.size());
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(end + 2, head.size()));
    if (!begins_with(line, kDisposition)) continue;
    const std::string_view value = http::trimmed(line.substr(kDisposition.size()));
    const auto name = parameter(value, "name");
    if (!begins_with(value, "form-data") || !name) break;
    MultipartReader::Part part{unescaped(*name), {}};
    if (const auto filename = parameter(value, "filename")) part.filename = unescaped(*filename);
    return part;
  }
  return fail(Error::invalid("a part of the form has no Content-Disposition with a name"));
}

}  // namespace

Result<std::string> boundary_of(std::string_view content_type) {
  const std::string_view type = http::trimmed(content_type.substr(0, content_type.find(';')));
  if (!begins_with(type, "multipart/form-data")) return fail(Error::invalid("the body is no multipart/form-data"));
  auto boundary = parameter(content_type, "boundary");
  const auto is_plain = [](char c) { return c > ' ' && c < '\x7f'; };
  if (!boundary || boundary->empty() || boundary->size() > kBoundaryBytesMax ||
      !std::ranges::all_of(*boundary, is_plain)) {
    return fail(Error::invalid("the Content-Type of a form has to have a boundary"));
  }
  return std::move(*boundary);
}

MultipartReader::MultipartReader(std::string_view boundary) : delimiter_(cat({"\r\n--", boundary})) {}

Result<MultipartReader::Event> MultipartReader::next() {
  switch (state_) {
    case State::kBegin: {
      const std::size_t at = buffer_.find(delimiter_);
      if (std::min(at, buffer_.size()) > kPreambleBytesMax) return fail(Error::invalid("the form does not begin"));
      if (at == std::string::npos) return Event(More());
      buffer_.erase(0, at + delimiter_.size());
      state_ = State::kDelimiter;
      return after_delimiter();
    }
    case State::kDelimiter: return after_delimiter();
    case State::kHead: return head();
    case State::kData: return data();
  }
  return fail(Error::invalid("the form is over"));
}

// "--" where it was the last, else the end of its line; spaces may stand before that.
Result<MultipartReader::Event> MultipartReader::after_delimiter() {
  if (buffer_.size() < 2) return Event(More());
  if (buffer_.starts_with("--")) return Event(FormEnd());
  const std::size_t end = buffer_.find("\r\n");
  if (end == std::string::npos && buffer_.size() < kPreambleBytesMax) return Event(More());
  if (end == std::string::npos || !http::trimmed(std::string_view(buffer_).substr(0, end)).empty()) {
    return fail(Error::invalid("a part of the form does not begin on a line of its own"));
  }
  // With the line's end, so that a head without a line ends as any other.
  buffer_.erase(0, end);
  state_ = State::kHead;
  return head();
}

Result<MultipartReader::Event> MultipartReader::head() {
  const std::size_t end = buffer_.find("\r\n\r\n");
  if (std::min(end, buffer_.size()) > kPartHeadBytesMax) return fail(Error::invalid("the head of a part is too long"));
  if (end == std::string::npos) return Event(More());
  if (++parts_ > kPartsMax) return fail(Error::invalid("the form has too many parts"));
  Part part = TRY(part_of(std::string_view(buffer_).substr(2, std::max<std::size_t>(end, 2) - 2)));
  // The empty line's end stays: the delimiter of an empty part begins with it.
  buffer_.erase(0, end + 2);
  state_ = State::kData;
  begun_ = false;
  return Event(std::move(part));
}

Result<MultipartReader::Event> MultipartReader::data() {
  if (!begun_) {
    // Nothing is in it where its delimiter follows at once.
    if (buffer_.size() < delimiter_.size() && delimiter_.starts_with(buffer_)) return Event(More());
    begun_ = true;
    if (!buffer_.starts_with(delimiter_)) buffer_.erase(0, 2);
  }
  const std::size_t at = buffer_.find(delimiter_);
  if (at == 0) {
    buffer_.erase(0, delimiter_.size());
    state_ = State::kDelimiter;
    return Event(PartEnd());
  }
  const std::size_t keep = delimiter_.size() - 1;
  const std::size_t whole = at != std::string::npos ? at : buffer_.size() > keep ? buffer_.size() - keep : 0;
  if (whole == 0) return Event(More());
  Data data{buffer_.substr(0, whole)};
  buffer_.erase(0, whole);
  return Event(std::move(data));
}

}  // namespace hutch::server
