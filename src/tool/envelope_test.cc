// Envelopes and values as JSON text.
#include "tool/envelope.h"

#include <gtest/gtest.h>

#include <limits>

namespace hutch::tool {
namespace {

TEST(Envelope, SuccessHasItsResult) {
  EXPECT_EQ(json_text(success({{"b", 1}, {"a", "x"}})), R"({"ok":true,"result":{"a":"x","b":1}})");
  Envelope envelope = success({});
  envelope.tool = "t";
  envelope.warnings = {"w"};
  envelope.message = "of a failure alone";
  EXPECT_EQ(json_text(envelope), R"({"ok":true,"result":{},"tool":"t","warnings":["w"]})");
}

TEST(Envelope, FailureSaysWhatWouldMendIt) {
  Envelope envelope = bad_argument("cwd", "wrong", "a path");
  envelope.tool = "sandbox_exec";
  EXPECT_EQ(json_text(envelope), R"({"expected":"a path","field":"cwd","kind":"invalid_args","message":"wrong",)"
                                 R"("ok":false,"retryable":true,"tool":"sandbox_exec"})");
}

TEST(Envelope, EachKindHasItsDefault) {
  const std::vector<std::pair<Kind, std::pair<std::string, bool>>> kinds = {
      {Kind::kInvalidArgs, {"invalid_args", true}},       {Kind::kRejected, {"rejected", false}},
      {Kind::kUserDenied, {"user_denied", false}},        {Kind::kTimeout, {"timeout", true}},
      {Kind::kExecutionError, {"execution_error", true}}, {Kind::kUnavailable, {"unavailable", true}},
      {Kind::kToolNotFound, {"tool_not_found", false}},   {Kind::kNotFound, {"not_found", false}}};
  for (const auto& [kind, expected] : kinds) {
    EXPECT_EQ(name_of(kind), expected.first);
    EXPECT_EQ(failure(kind, "m").retryable, expected.second) << expected.first;
    EXPECT_FALSE(final_failure(kind, "m").retryable);
  }
}

TEST(Envelope, WhatRidesAlongHidesNothing) {
  Envelope envelope = failure(Kind::kTimeout, "late");
  envelope.extra = {{"ok", true},      {"kind", "x"}, {"message", "x"},  {"retryable", false}, {"field", "x"},
                    {"expected", "x"}, {"tool", "x"}, {"warnings", "x"}, {"result", "x"},      {"stdout", "so far"}};
  EXPECT_EQ(json_text(envelope),
            R"({"kind":"timeout","message":"late","ok":false,"retryable":true,"stdout":"so far"})");
}

TEST(Value, BytesThatAreNotUtf8) {
  EXPECT_EQ(json_text(Value(std::string("a\xff"
                                        "b\x80"))),
            "\"a\uFFFDb\uFFFD\"");
  EXPECT_EQ(json_text(Value(Value::Object{{"\xff", 1}})), "{\"\uFFFD\":1}");
  EXPECT_EQ(json_text(Value(std::string("\0\n\"", 3))), R"("\u0000\n\"")");
}

TEST(Value, ThereAndBack) {
  const std::string text = R"({"a":[1,-2,2.5,"x",true,null],"b":{"c":[]}})";
  const Result<Value> value = parse_value(text, 1000);
  ASSERT_TRUE(value);
  EXPECT_EQ(json_text(*value), text);
}

TEST(Value, WhatIsRefused) {
  EXPECT_FALSE(parse_value("{", 100));
  EXPECT_FALSE(parse_value("", 100));
  EXPECT_FALSE(parse_value("[1]", 2));
  EXPECT_FALSE(parse_value(std::string(100, '[') + std::string(100, ']'), 1000));
  EXPECT_FALSE(parse_value("\"\xff\"", 100));
}

TEST(Value, NumbersBeyondTheRange) {
  EXPECT_EQ(*parse_value("9223372036854775807", 100), Value(std::numeric_limits<std::int64_t>::max()));
  const Result<Value> large = parse_value("18446744073709551615", 100);
  ASSERT_TRUE(large);
  EXPECT_NE(large->get<double>(), nullptr);
}

}  // namespace
}  // namespace hutch::tool
