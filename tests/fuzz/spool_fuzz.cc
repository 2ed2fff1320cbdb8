// Any line is either a record, which then survives being written and read again, or refused.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "store/record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const auto record = hutch::store::parse_record(line);
  if (!record) return 0;
  const std::string written = hutch::store::format_record(*record);
  CHECK(written.size() <= hutch::store::kRecordBytesMax);
  CHECK(written.find('\n') == written.npos);
  const auto again = hutch::store::parse_record(written);
  CHECK(again.has_value());
  CHECK(hutch::store::format_record(*again) == written);
  return 0;
}
