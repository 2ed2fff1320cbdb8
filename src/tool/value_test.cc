// JSON as a value, and the text of it.
#include "tool/value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace hutch::tool {
namespace {

std::string by_library(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

TEST(JsonText, IsWhatTheLibraryWrites) {
  const std::string euro = "\xe2\x82\xac";
  std::string every;
  for (int c = 0; c < 256; ++c) {
    every += static_cast<char>(c);
    EXPECT_EQ(json_text(Value(std::string(1, static_cast<char>(c)))), by_library(std::string(1, static_cast<char>(c))));
  }
  for (const std::string& text :
       {std::string(), std::string("plain"), every, every.substr(0, 128), euro, "a" + euro + "\"\\\n" + euro,
        euro.substr(0, 2), std::string("\x7f"), std::string("\xf0\x9d\x84\x9e"), std::string("\xed\xa0\x80"),
        std::string("\xf4\x90\x80\x80"), std::string(7, 'x') + euro, std::string(5000, 'x') + "\n"}) {
    EXPECT_EQ(json_text(Value(text)), by_library(text));
    EXPECT_EQ(json_text(Value(Value::Object{{text, 1}})), "{" + by_library(text) + ":1}");
  }
}

TEST(JsonText, OfEveryKind) {
  EXPECT_EQ(json_text(Value()), "null");
  EXPECT_EQ(json_text(Value(true)), "true");
  EXPECT_EQ(json_text(Value(std::numeric_limits<std::int64_t>::min())), "-9223372036854775808");
  EXPECT_EQ(json_text(Value(1.5)), "1.5");
  EXPECT_EQ(json_text(Value(2.0)), "2.0");
  EXPECT_EQ(json_text(Value(std::nan(""))), "null");
  EXPECT_EQ(json_text(Value(Value::List{})), "[]");
  EXPECT_EQ(json_text(Value(Value::Object{})), "{}");
  const Value nested(Value::Object{{"b", Value::List{1, Value::List{}, "x"}}, {"a", Value::Object{{"c", false}}}});
  EXPECT_EQ(json_text(nested), R"({"a":{"c":false},"b":[1,[],"x"]})");
  EXPECT_EQ(parse_value(json_text(nested), 1000).value(), nested);
}

}  // namespace
}  // namespace hutch::tool
