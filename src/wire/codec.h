// Bytes of the host-guest protocol: little-endian integers, counted strings and lists.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hutch::wire {

// Appends values to a buffer.
class Writer {
 public:
  void u8(std::uint8_t value) { integer(value, 1); }
  void u16(std::uint16_t value) { integer(value, 2); }
  void u32(std::uint32_t value) { integer(value, 4); }
  void u64(std::uint64_t value) { integer(value, 8); }
  void text(std::string_view value);
  void texts(const std::vector<std::string>& values);
  const std::string& bytes() const { return bytes_; }

 private:
  void integer(std::uint64_t value, unsigned size);
  std::string bytes_;
};

// Takes values from bytes that may be hostile. The first value that is not there makes the reader bad; every later
// one is then empty, so a message is read whole and checked once, by `finish`.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::uint8_t u8() { return static_cast<std::uint8_t>(integer(1)); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(integer(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(integer(4)); }
  std::uint64_t u64() { return integer(8); }
  std::string text();
  std::vector<std::string> texts();

  // The number of items of a list whose items take at least `item_bytes_min` each: never more than can follow.
  std::size_t count(std::size_t item_bytes_min);

  // A value of an enumeration whose last enumerator is `last`.
  template <class Enum>
  Enum choice(Enum last) {
    const std::uint8_t value = u8();
    if (value > static_cast<std::uint8_t>(last)) bad_ = true;
    return bad_ ? Enum{} : static_cast<Enum>(value);
  }

  // Success when every value was there and nothing is left over.
  Status finish(std::string_view what) const;

 private:
  std::uint64_t integer(unsigned size);
  std::string_view rest_;
  bool bad_ = false;
};

}  // namespace hutch::wire
