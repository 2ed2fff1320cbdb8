// JSON values by nlohmann's library.
#include "tool/value.h"

#include <algorithm>
#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/utf8.h"
#include "wire/json_guard.h"

template class std::vector<hutch::tool::Value>;
template class std::map<std::string, hutch::tool::Value, std::less<>>;

namespace hutch::tool {

namespace {

using Json = nlohmann::json;

void append(std::string& out, const Value& value);
Value from_library(const Json& json);
Value number_from(const Json& json);

}  // namespace

Value::Value() = default;
Value::Value(const Value& other) = default;
Value::Value(Value&& other) noexcept = default;
Value& Value::operator=(const Value& other) = default;
Value& Value::operator=(Value&& other) noexcept = default;
Value::~Value() = default;
bool Value::operator==(const Value& other) const = default;

std::string json_text(const Value& value) {
  std::string out;
  append(out, value);
  return out;
}

Result<Value> parse_value(std::string_view text, std::size_t bytes_max) {
  TRY(wire::check_json_shape(text, bytes_max));
  const Json json = parse_json(text);
  if (json.is_discarded()) return fail(Error::invalid("not valid JSON"));
  return from_library(json);
}

namespace {

// The library's text where it takes more than a copy: it decides character by character.
std::string by_library(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// RFC 8259, section 7: a quote, a backslash and what is below a space are written otherwise.
bool is_plain(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; }

void append_text(std::string& out, std::string_view text) {
  if (!is_utf8(text)) {
    out += by_library(Json(text));
    return;
  }
  out += '"';
  while (!text.empty()) {
    const auto end = std::ranges::find_if_not(text, is_plain);
    const auto plain = static_cast<std::size_t>(end - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const char c = text.front();
    static constexpr std::string_view kShort = "\"\\\b\f\n\r\t";
    static constexpr std::string_view kLetters = "\"\\bfnrt";
    static constexpr std::string_view kDigits = "0123456789abcdef";
    out += '\\';
    if (const std::size_t at = kShort.find(c); at != std::string_view::npos) {
      out += kLetters[at];
    } else {
      out += {'u', '0', '0', kDigits[static_cast<unsigned char>(c) >> 4], kDigits[c & 15]};
    }
    text.remove_prefix(1);
  }
  out += '"';
}

// Recursion is bounded: values from elsewhere went through check_json_shape, ours nest a few levels.
struct Writer {
  std::string& out;

  void operator()(std::nullptr_t) const { out += "null"; }
  void operator()(std::same_as<bool> auto truth) const { out += truth ? "true" : "false"; }
  void operator()(std::int64_t number) const { out += std::to_string(number); }
  void operator()(double number) const { out += by_library(Json(number)); }
  void operator()(const std::string& text) const { append_text(out, text); }
  void operator()(const Value::List& list) const {
    char before = '[';
    for (const Value& item : list) {
      out += before;
      append(out, item);
      before = ',';
    }
    out += list.empty() ? "[]" : "]";
  }
  void operator()(const Value::Object& object) const {
    char before = '{';
    for (const auto& [name, item] : object) {
      out += before;
      append_text(out, name);
      out += ':';
      append(out, item);
      before = ',';
    }
    out += object.empty() ? "{}" : "}";
  }
};

void append(std::string& out, const Value& value) { std::visit(Writer{out}, value.data()); }

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
