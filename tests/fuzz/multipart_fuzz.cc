// A form's bytes, in pieces of any size: what is taken does not depend on the pieces.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "server/protocol/multipart.h"

namespace {

using hutch::server::MultipartReader;

std::string read_all(std::string_view bytes, std::size_t size) {
  std::string told;
  MultipartReader reader("B");
  for (;;) {
    const auto event = reader.next();
    if (!event) return told + "!" + event.error().message;
    if (std::holds_alternative<MultipartReader::FormEnd>(*event)) return told + "<end>";
    if (std::holds_alternative<MultipartReader::PartEnd>(*event)) told += "<part end>";
    if (const auto* part = std::get_if<MultipartReader::Part>(&*event)) {
      told += "<" + part->name + "|" + part->filename.value_or("-") + ">";
    }
    if (const auto* data = std::get_if<MultipartReader::Data>(&*event)) {
      CHECK(!data->bytes.empty());
      told += data->bytes;
    }
    if (!std::holds_alternative<MultipartReader::More>(*event)) continue;
    if (bytes.empty()) return told;
    const std::size_t count = std::min(size, bytes.size());
    reader.add(bytes.substr(0, count));
    bytes.remove_prefix(count);
  }
}

}  // namespace

// What is held back at the end, as the beginning of a boundary, may be more where more came at once: never other bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  (void)hutch::server::boundary_of(bytes);
  const std::string whole = read_all(bytes, bytes.size() + 1);
  const std::string parts = read_all(bytes, 1 + data[0] % 64);
  const std::size_t common = std::min(whole.size(), parts.size());
  const bool broke_off = whole.find('!') != std::string::npos || parts.find('!') != std::string::npos;
  if (!broke_off) CHECK(whole.substr(0, common) == parts.substr(0, common));
  return 0;
}
