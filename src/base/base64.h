// Bytes as base64 text (RFC 4648, section 4) and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hutch {

std::string to_base64(std::string_view bytes);

// Absent when the text is no canonical base64 with its padding.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace hutch
