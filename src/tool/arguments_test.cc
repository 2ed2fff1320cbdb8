// Reading arguments: what is taken leniently, and each message about what is not.
#include "tool/arguments.h"

#include <gtest/gtest.h>

namespace hutch::tool {
namespace {

bool is_lower_case(std::string_view text) { return text.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == text.npos; }

const std::vector<Parameter> kParameters = {
    {.name = "text", .presence = Presence::kRequired},
    {.name = "free", .empty = Empty::kAllowed, .nul = Nul::kAllowed, .bytes_max = 10},
    {.name = "number", .type = Type::kInteger, .minimum = 1, .maximum = 300, .fallback = std::int64_t{7}},
    {.name = "clamped", .type = Type::kInteger, .minimum = 0, .maximum = 10, .range = Range::kClamped},
    {.name = "least", .type = Type::kInteger, .minimum = 5},
    {.name = "flag", .type = Type::kBoolean, .fallback = false},
    {.name = "list", .type = Type::kTexts},
    {.name = "choice", .fallback = std::string_view("one"), .choices = {"one", "two"}},
    {.name = "lower", .expected = "small letters", .pattern = {"^[a-z]*$", is_lower_case}},
};

Arguments read(std::string_view json) {
  const auto arguments = read_arguments(kParameters, json);
  EXPECT_TRUE(arguments) << arguments.error().message;
  return arguments.value_or(Arguments{});
}

// "field: message (expected)"
std::string refusal(std::string_view json) {
  const auto arguments = read_arguments(kParameters, json);
  if (arguments) return "(taken)";
  EXPECT_EQ(arguments.error().kind, Kind::kInvalidArgs);
  EXPECT_TRUE(arguments.error().retryable);
  EXPECT_FALSE(arguments.error().expected.empty());
  return arguments.error().field + ": " + arguments.error().message;
}

TEST(Arguments, AsGivenAndByDefault) {
  const Arguments arguments = read(R"({"text":"x","number":3,"flag":true,"list":["a","b"],"lower":"q"})");
  EXPECT_EQ(arguments.text("text"), "x");
  EXPECT_EQ(arguments.number("number"), 3);
  EXPECT_TRUE(arguments.is_set("flag"));
  EXPECT_EQ(arguments.texts("list"), (std::vector<std::string>{"a", "b"}));
  const Arguments bare = read(R"({"text":"x","free":null})");
  EXPECT_EQ(bare.number("number"), 7);
  EXPECT_FALSE(bare.is_set("flag"));
  EXPECT_EQ(bare.text("choice"), "one");
  EXPECT_FALSE(bare.has("free") || bare.has("list") || bare.has("clamped"));
  EXPECT_EQ(bare.text("free"), "");
  EXPECT_EQ(bare.number("least"), std::nullopt);
  EXPECT_TRUE(bare.texts("list").empty());
}

TEST(Arguments, PlainIntentIsTaken) {
  const Arguments arguments = read(R"({"text":"x","number":"30","clamped":3.0,"flag":"YES","list":"[\"a\",\"b\"]"})");
  EXPECT_EQ(arguments.number("number"), 30);
  EXPECT_EQ(arguments.number("clamped"), 3);
  EXPECT_TRUE(arguments.is_set("flag"));
  EXPECT_EQ(arguments.texts("list"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(read(R"({"text":"x","list":"jq"})").texts("list"), std::vector<std::string>{"jq"});
  EXPECT_EQ(read(R"({"text":"x","list":"[jq"})").texts("list"), std::vector<std::string>{"[jq"});
  for (const char* no : {"\"false\"", "\"0\"", "\"no\"", "0", "false"}) {
    EXPECT_FALSE(read(std::string(R"({"text":"x","flag":)") + no + "}").is_set("flag")) << no;
  }
  EXPECT_EQ(read(R"({"text":"x","clamped":99})").number("clamped"), 10);
  EXPECT_EQ(read(R"({"text":"x","clamped":-5})").number("clamped"), 0);
}

TEST(Arguments, NothingIsAnEmptyObject) {
  for (const char* nothing : {"", " \n", "null", "{}"}) {
    EXPECT_EQ(refusal(nothing), "text: Missing required argument `text` (non-empty string).") << nothing;
  }
}

TEST(Arguments, WhatIsMissingOrEmpty) {
  EXPECT_EQ(refusal(R"({"text":null})"), "text: Missing required argument `text` (non-empty string).");
  EXPECT_EQ(refusal(R"({"text":""})"), "text: Argument `text` must not be empty (non-empty string).");
  EXPECT_EQ(refusal(R"({"text":"x","list":[]})"),
            "list: Argument `list` must not be empty (non-empty array of strings).");
  EXPECT_EQ(refusal(R"({"text":"x","list":[""]})"),
            "list: Argument `list` must not be empty (non-empty array of strings).");
  EXPECT_EQ(refusal(R"({"text":"x","free":""})"), "(taken)");
}

TEST(Arguments, WhatIsUnknown) {
  EXPECT_EQ(refusal(R"({"text":"x","cmd":1})"),
            "cmd: Unexpected property `cmd`. Allowed: text, free, number, clamped, least, flag, list, choice, lower.");
  const auto none = read_arguments({}, R"({"a\nb":1})");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "Unexpected property `a\\x0ab`. Allowed: none.");
}

TEST(Arguments, WrongTypes) {
  EXPECT_EQ(refusal(R"({"text":5})"), "text: Argument `text` must be a string (non-empty string). Got 5.");
  EXPECT_EQ(refusal(R"({"text":["x"]})"), "text: Argument `text` must be a string (non-empty string). Got an array.");
  EXPECT_EQ(refusal(R"({"text":"x","number":"soon"})"),
            "number: Argument `number` must be an integer (integer from 1 to 300). Got `soon`.");
  EXPECT_EQ(refusal(R"({"text":"x","number":1.5})"),
            "number: Argument `number` must be an integer (integer from 1 to 300). Got 1.5.");
  EXPECT_EQ(refusal(R"({"text":"x","number":1e300})"),
            "number: Argument `number` must be an integer (integer from 1 to 300). Got 1e+300.");
  EXPECT_EQ(refusal(R"({"text":"x","flag":"maybe"})"),
            "flag: Argument `flag` must be a boolean (true or false). Got `maybe`.");
  EXPECT_EQ(refusal(R"({"text":"x","flag":2})"), "flag: Argument `flag` must be a boolean (true or false). Got 2.");
  EXPECT_EQ(refusal(R"({"text":"x","list":[1]})"),
            "list: Argument `list` must be an array of strings (non-empty array of strings). Got an array.");
  EXPECT_EQ(refusal(R"({"text":"x","list":{}})"),
            "list: Argument `list` must be an array of strings (non-empty array of strings). Got an object.");
}

TEST(Arguments, OutOfRange) {
  EXPECT_EQ(refusal(R"({"text":"x","number":0})"),
            "number: Argument `number` is out of range (integer from 1 to 300). Got 0.");
  EXPECT_EQ(refusal(R"({"text":"x","number":301})"),
            "number: Argument `number` is out of range (integer from 1 to 300). Got 301.");
  EXPECT_TRUE(
      refusal(R"({"text":"x","number":18446744073709551615})").starts_with("number: Argument `number` must be an"));
  EXPECT_EQ(refusal(R"({"text":"x","least":4})"),
            "least: Argument `least` is out of range (integer, at least 5). Got 4.");
}

TEST(Arguments, ChoicesAndPatterns) {
  EXPECT_EQ(refusal(R"({"text":"x","choice":"three"})"),
            "choice: Argument `choice` must be one of one, two. Got `three`.");
  EXPECT_EQ(refusal(R"({"text":"x","lower":"A"})"), "lower: Argument `lower` must be small letters. Got `A`.");
}

TEST(Arguments, LengthsAndNul) {
  EXPECT_EQ(refusal(R"({"text":"a\u0000b"})"), "text: Argument `text` must not contain a NUL byte (non-empty string).");
  EXPECT_EQ(refusal(R"({"text":"x","free":"a\u0000b"})"), "(taken)");
  EXPECT_EQ(refusal(R"({"text":"x","free":"12345678901"})"),
            "free: Argument `free` is too long: 11 bytes, at most 10 are taken.");
  const std::string long_text(kTextBytesMax + 1, 'x');
  EXPECT_EQ(refusal(R"({"text":")" + long_text + "\"}"),
            "text: Argument `text` is too long: 131072 bytes, at most 131071 are taken.");
  std::string many = R"({"text":"x","list":["a")";
  for (std::size_t i = 0; i < kListArgumentsMax; ++i) many += R"(,"a")";
  EXPECT_EQ(refusal(many + "]}"), "list: Argument `list` has 257 entries, at most 256 are taken.");
}

TEST(Arguments, JsonThatCannotBeRead) {
  EXPECT_EQ(refusal("{"), ": The arguments cannot be read: not valid JSON.");
  EXPECT_EQ(refusal("[]"), ": The arguments must be a JSON object. Got an array.");
  EXPECT_EQ(refusal("\"x\""), ": The arguments must be a JSON object. Got `x`.");
  EXPECT_EQ(refusal(std::string(100, '[')), ": The arguments cannot be read: JSON nested deeper than 64.");
  EXPECT_EQ(refusal(std::string(kArgumentsBytesMax + 1, ' ') + "{}"),
            ": The arguments cannot be read: JSON of more than 12582912 bytes.");
}

TEST(Schema, OfParameters) {
  EXPECT_EQ(
      json_text(input_schema(kParameters)),
      R"({"additionalProperties":false,"properties":{"choice":{"default":"one","description":"","enum":["one","two"],)"
      R"("minLength":1,"type":"string"},"clamped":{"description":"","type":"integer"},)"
      R"("flag":{"default":false,"description":"","type":"boolean"},"free":{"description":"","type":"string"},)"
      R"("least":{"description":"","minimum":5,"type":"integer"},)"
      R"("list":{"description":"","items":{"type":"string"},"maxItems":256,"minItems":1,"type":"array"},)"
      R"("lower":{"description":"","minLength":1,"pattern":"^[a-z]*$","type":"string"},)"
      R"("number":{"default":7,"description":"","maximum":300,"minimum":1,"type":"integer"},)"
      R"("text":{"description":"","minLength":1,"type":"string"}},"required":["text"],"type":"object"})");
}

TEST(Schema, OfResults) {
  const std::vector<Field> fields = {{"a", Type::kTexts, "A."}, {"b", Type::kObjects, "B.", Presence::kOptional}};
  const std::string text = json_text(output_schema(fields));
  EXPECT_NE(text.find(R"("result":{"properties":{"a":{"description":"A.","items":{"type":"string"},"type":"array"},)"
                      R"("b":{"description":"B.","items":{"type":"object"},"type":"array"}},"required":["a"],)"
                      R"("type":"object"})"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("required":["ok"],"type":"object"})"), std::string::npos) << text;
}

}  // namespace
}  // namespace hutch::tool
