// JSON values by nlohmann's library.
#include "tool/value.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "wire/json_guard.h"

namespace hutch::tool {

namespace {

using Json = nlohmann::json;

Json to_library(const Value& value);
Value from_library(const Json& json);
Value number_from(const Json& json);

}  // namespace

std::string json_text(const Value& value) {
  return to_library(value).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Value> parse_value(std::string_view text, std::size_t bytes_max) {
  TRY(wire::check_json_shape(text, bytes_max));
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return fail(Error::invalid("not valid JSON"));
  return from_library(json);
}

namespace {

// Recursion is bounded: values from elsewhere went through check_json_shape, ours nest a few levels.
Json to_library(const Value& value) {
  return std::visit(
      [](const auto& data) -> Json {
        using T = std::decay_t<decltype(data)>;
        if constexpr (std::is_same_v<T, Value::List>) {
          Json list = Json::array();
          for (const Value& item : data) list.push_back(to_library(item));
          return list;
        } else if constexpr (std::is_same_v<T, Value::Object>) {
          Json object = Json::object();
          for (const auto& [name, item] : data) object[name] = to_library(item);
          return object;
        } else {
          return data;
        }
      },
      value.data());
}

Value from_library(const Json& json) {
  switch (json.type()) {
    case Json::value_t::boolean: return json.get<bool>();
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float: return number_from(json);
    case Json::value_t::string: return json.get<std::string>();
    case Json::value_t::array: {
      Value::List list;
      list.reserve(json.size());
      for (const Json& item : json) list.push_back(from_library(item));
      return list;
    }
    case Json::value_t::object: {
      Value::Object object;
      for (const auto& [name, item] : json.items()) object.emplace(name, from_library(item));
      return object;
    }
    case Json::value_t::null:
    case Json::value_t::binary:
    case Json::value_t::discarded: break;
  }
  return {};
}

// A whole number beyond int64 stays a number, as a double.
Value number_from(const Json& json) {
  const bool too_large =
      json.is_number_unsigned() &&
      json.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (json.is_number_integer() && !too_large) return json.get<std::int64_t>();
  return json.get<double>();
}

}  // namespace

}  // namespace hutch::tool
