// A tool's parameters and results as data, and the JSON Schemas made of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tool/value.h"

namespace hutch::tool {

inline constexpr std::size_t kArgumentsBytesMax = 12 << 20;  // 4 MiB of content, escaped
inline constexpr std::size_t kListArgumentsMax = 256;
inline constexpr std::size_t kTextBytesMax = 128 * 1024 - 1;  // what an argument of a command can be (execve(2))

enum class Type { kText, kInteger, kBoolean, kTexts, kObjects };
enum class Presence { kOptional, kRequired };
enum class Empty { kRefused, kAllowed };
enum class Nul { kRefused, kAllowed };     // NUL bytes in a text; an argument of a command would end there
enum class Range { kRefused, kClamped };  // what happens to a number that is too small or too large

// A regular expression for the schema, and the function that decides by it here. Neither when the function is null.
struct Pattern {
  std::string_view expression{};
  bool (*matches)(std::string_view) = nullptr;
};

struct Parameter {
  std::string_view name{};
  Type type = Type::kText;  // never kObjects
  std::string_view description{};
  std::string_view expected{};  // for messages; empty: made of the type and its bounds
  Presence presence = Presence::kOptional;
  Empty empty = Empty::kRefused;  // of texts and lists
  Nul nul = Nul::kRefused;
  std::size_t bytes_max = kTextBytesMax;  // of each text
  std::optional<std::int64_t> minimum{};
  std::optional<std::int64_t> maximum{};
  Range range = Range::kRefused;
  std::variant<std::monostate, std::int64_t, bool, std::string_view> fallback{};  // what an absent one is taken for
  std::vector<std::string_view> choices{};
  Pattern pattern{};
};

struct Field {
  std::string_view name{};
  Type type = Type::kText;
  std::string_view description{};
  Presence presence = Presence::kRequired;
};

std::string_view name_of(Type type);  // "string", "array of strings"
std::string expected_text(const Parameter& parameter);

// {"type":"object","additionalProperties":false,...}
Value input_schema(std::span<const Parameter> parameters);

// Of the whole envelope, with these as the members of `result`: what a failure answers fits it too.
Value output_schema(std::span<const Field> fields);

}  // namespace hutch::tool
