// JSON as a value: what a tool is given and what it answers, with no JSON library in a header.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace hutch::tool {

class Value {
 public:
  using List = std::vector<Value>;
  using Object = std::map<std::string, Value, std::less<>>;
  using Data = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, List, Object>;

  // NOLINTBEGIN(google-explicit-constructor): so that values are written as JSON is, {{"path", path}, {"size", 3}}
  Value();
  Value(std::string text) : data_(std::move(text)) {}
  Value(std::string_view text) : data_(std::string(text)) {}
  Value(const char* text) : data_(std::string(text)) {}
  Value(List list) : data_(std::move(list)) {}
  Value(Object object) : data_(std::move(object)) {}
  Value(double number) : data_(number) {}
  template <std::same_as<bool> T>
  Value(T truth) : data_(truth) {}
  template <std::integral T>
    requires(!std::same_as<T, bool> && !std::same_as<T, char>)
  Value(T number) : data_(static_cast<std::int64_t>(number)) {}
  // NOLINTEND(google-explicit-constructor)
  // Compiled once, in value.cc, because each of these visits all types of the variant.
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value();

  const Data& data() const { return data_; }
  // Null where it is of another type.
  template <class T>
  const T* get() const {
    return std::get_if<T>(&data_);
  }
  bool is_null() const { return get<std::nullptr_t>() != nullptr; }
  bool operator==(const Value& other) const;

 private:
  Data data_ = nullptr;
};

// One line, keys sorted; bytes that are not UTF-8 become U+FFFD.
std::string json_text(const Value& value);

// Held to `bytes_max` and to limits::kJsonDepthMax before it is read.
Result<Value> parse_value(std::string_view text, std::size_t bytes_max);

}  // namespace hutch::tool

// Likewise.
extern template class std::vector<hutch::tool::Value>;
extern template class std::map<std::string, hutch::tool::Value, std::less<>>;
