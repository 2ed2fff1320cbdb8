// Bytes of the host-guest protocol.
#include "wire/codec.h"

#include "base/limits.h"
#include "base/text.h"

namespace hutch::wire {

void Writer::integer(std::uint64_t value, unsigned size) {
  for (unsigned i = 0; i < size; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xff);
}

void Writer::text(std::string_view value) {
  u32(static_cast<std::uint32_t>(value.size()));
  bytes_ += value;
}

void Writer::texts(const std::vector<std::string>& values) {
  u32(static_cast<std::uint32_t>(values.size()));
  for (const std::string& value : values) text(value);
}

std::uint64_t Reader::integer(unsigned size) {
  if (bad_ || rest_.size() < size) {
    bad_ = true;
    return 0;
  }
  std::uint64_t value = 0;
  for (unsigned i = 0; i < size; ++i) value |= std::uint64_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
  rest_.remove_prefix(size);
  return value;
}

std::string Reader::text() {
  const std::uint32_t size = u32();
  if (bad_ || rest_.size() < size) {
    bad_ = true;
    return {};
  }
  std::string value(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return value;
}

std::size_t Reader::count(std::size_t item_bytes_min) {
  const std::size_t items = u32();
  if (items > limits::kListItemsMax || items * item_bytes_min > rest_.size()) bad_ = true;
  return bad_ ? 0 : items;
}

std::vector<std::string> Reader::texts() {
  const std::size_t items = count(4);
  std::vector<std::string> values;
  values.reserve(items);
  for (std::size_t i = 0; i < items; ++i) values.push_back(text());
  return values;
}

Status Reader::finish(std::string_view what) const {
  if (!bad_ && rest_.empty()) return {};
  return fail(Error::invalid(cat({what, ": malformed message"})));
}

}  // namespace hutch::wire
