// Bounds that JSON from elsewhere is held to.
#include "wire/json_guard.h"

#include "base/limits.h"
#include "base/text.h"

namespace hutch::wire {

Status check_json_shape(std::string_view text, std::size_t bytes_max) {
  if (text.size() > bytes_max)
    return fail(Error::invalid(cat({"JSON of more than ", std::to_string(bytes_max), " bytes"})));
  // The reader would take a NUL byte for the end and never see the rest.
  if (text.find('\0') != std::string_view::npos) return fail(Error::invalid("JSON with a NUL byte"));
  std::size_t depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
      continue;
    }
    if (c == '"') in_text = true;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (c != '[' && c != '{') continue;
    if (++depth > limits::kJsonDepthMax) {
      return fail(Error::invalid(cat({"JSON nested deeper than ", std::to_string(limits::kJsonDepthMax)})));
    }
  }
  return {};
}

}  // namespace hutch::wire
