// Compiles nlohmann's parser for plain reads, in this one place.
#include "base/json.h"

#include <nlohmann/json.hpp>

namespace hutch {

nlohmann::json parse_json(std::string_view text) {
  return nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
}

nlohmann::ordered_json parse_ordered_json(std::string_view text) {
  return nlohmann::ordered_json::parse(text.begin(), text.end(), nullptr, false);
}

}  // namespace hutch
