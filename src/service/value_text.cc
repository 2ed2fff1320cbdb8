// Values for people.
#include "service/value_text.h"

#include <nlohmann/json.hpp>

namespace hutch::service {

namespace {

using json = nlohmann::ordered_json;

std::string line_of(const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

}  // namespace

std::string value_line(std::string_view text) { return line_of(json::parse(text, nullptr, false)); }

std::string value_lines(std::string_view text) {
  const json value = json::parse(text, nullptr, false);
  if (!value.is_array()) return line_of(value) + "\n";
  std::string lines;
  for (const json& item : value) lines += line_of(item) + "\n";
  return lines;
}

}  // namespace hutch::service
