// Forms of several files (multipart/form-data, RFC 7578) from bytes as they come, of any length. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

namespace hutch::server {

inline constexpr std::size_t kPartHeadBytesMax = 16 << 10;
inline constexpr std::size_t kPartsMax = 1000;

// The boundary that a Content-Type names; an error where it is another type, or names none.
Result<std::string> boundary_of(std::string_view content_type);

class MultipartReader {
 public:
  explicit MultipartReader(std::string_view boundary);

  void add(std::string_view bytes) { buffer_ += bytes; }

  struct Part {
    std::string name;
    std::optional<std::string> filename;
    bool operator==(const Part&) const = default;
  };
  struct Data {
    std::string bytes;  // of the last part
    bool operator==(const Data&) const = default;
  };
  struct PartEnd {
    bool operator==(const PartEnd&) const = default;
  };
  struct FormEnd {
    bool operator==(const FormEnd&) const = default;
  };
  struct More {  // bytes are needed
    bool operator==(const More&) const = default;
  };
  using Event = std::variant<Part, Data, PartEnd, FormEnd, More>;
  // After an error, or the form's end, it is not asked again.
  Result<Event> next();

 private:
  Result<Event> after_delimiter();
  Result<Event> head();
  Result<Event> data();

  enum class State { kBegin, kDelimiter, kHead, kData } state_ = State::kBegin;
  const std::string delimiter_;  // "\r\n--boundary"
  std::string buffer_ = "\r\n";  // the first delimiter has no line before it
  std::size_t parts_ = 0;
  bool begun_ = false;  // of a part: something of what is in it was looked at
};

}  // namespace hutch::server
