// Reads JSON text with nlohmann's library, whose parser is a template that takes seconds to compile at each use.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace hutch {

// Returns a discarded value (is_discarded()) if `text` is not JSON. The caller bounds depth and size first
// (wire/json_guard.h). Keys are sorted; if a key is written twice, the last one counts.
nlohmann::json parse_json(std::string_view text);

// Likewise, with the keys in the order of the text.
nlohmann::ordered_json parse_ordered_json(std::string_view text);

}  // namespace hutch
