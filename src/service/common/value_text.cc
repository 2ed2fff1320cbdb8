// Values for people.
#include "service/common/value_text.h"

#include <nlohmann/json.hpp>

#include "base/json.h"

namespace hutch::service {

namespace {

using ordered_json = nlohmann::ordered_json;

std::string line_of(const ordered_json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

}  // namespace

std::string value_line(std::string_view text) { return line_of(parse_ordered_json(text)); }

std::string value_lines(std::string_view text) {
  const ordered_json value = parse_ordered_json(text);
  if (!value.is_array()) return line_of(value) + "\n";
  std::string lines;
  for (const ordered_json& item : value) lines += line_of(item) + "\n";
  return lines;
}

}  // namespace hutch::service
