// JSON Schemas (draft 2020-12) of parameters and results.
#include "tool/schema.h"

#include <fmt/format.h>

#include "base/text.h"

namespace hutch::tool {

namespace {

Value::Object type_schema(Type type);
Value parameter_schema(const Parameter& parameter);
Value result_schema(std::span<const Field> fields);
Value::Object object_schema(Value::Object properties, Value::List required);

}  // namespace

std::string_view name_of(Type type) {
  switch (type) {
    case Type::kText: return "string";
    case Type::kInteger: return "integer";
    case Type::kBoolean: return "boolean";
    case Type::kTexts: return "array of strings";
    case Type::kObjects: return "array of objects";
  }
  return "string";
}

std::string expected_text(const Parameter& parameter) {
  if (!parameter.expected.empty()) return std::string(parameter.expected);
  if (!parameter.choices.empty()) {
    return cat({"one of ", join({parameter.choices.begin(), parameter.choices.end()}, ", ")});
  }
  if (parameter.minimum && parameter.maximum) {
    return fmt::format("integer from {} to {}", *parameter.minimum, *parameter.maximum);
  }
  if (parameter.minimum) return fmt::format("integer, at least {}", *parameter.minimum);
  if (parameter.type == Type::kBoolean) return "true or false";
  const bool filled = parameter.empty == Empty::kRefused;
  if (filled && (parameter.type == Type::kText || parameter.type == Type::kTexts)) {
    return cat({"non-empty ", name_of(parameter.type)});
  }
  return std::string(name_of(parameter.type));
}

Value input_schema(std::span<const Parameter> parameters) {
  Value::Object properties;
  Value::List required;
  for (const Parameter& parameter : parameters) {
    properties.emplace(parameter.name, parameter_schema(parameter));
    if (parameter.presence == Presence::kRequired) required.emplace_back(parameter.name);
  }
  Value::Object schema = object_schema(std::move(properties), std::move(required));
  schema.emplace("additionalProperties", false);
  return schema;
}

Value output_schema(std::span<const Field> fields) {
  const auto typed = [](const char* type, const char* description) {
    return Value(Value::Object{{"type", type}, {"description", description}});
  };
  Value::Object properties = {
      {"ok", typed("boolean", "Whether it was done.")},
      {"result", result_schema(fields)},
      {"kind", typed("string",
                     "Of a failure: invalid_args, rejected, user_denied, timeout, execution_error, "
                     "unavailable, tool_not_found or not_found.")},
      {"message", typed("string", "Of a failure: what went wrong.")},
      {"retryable",
       typed("boolean", "Of a failure: whether to try again, with other arguments where they were wrong.")},
      {"field", typed("string", "Of a failure: the argument that was wrong.")},
      {"expected", typed("string", "Of a failure: what that argument should be.")},
      {"tool", typed("string", "The tool that answered.")},
      {"warnings", Value::Object{{"type", "array"}, {"items", Value::Object{{"type", "string"}}}}},
  };
  return object_schema(std::move(properties), {"ok"});
}

namespace {

Value parameter_schema(const Parameter& parameter) {
  Value::Object schema = type_schema(parameter.type);
  schema.emplace("description", parameter.description);
  // A number that is only clamped may be any: a client that checks the schema would refuse what the tool takes.
  if (parameter.range == Range::kRefused) {
    if (parameter.minimum) schema.emplace("minimum", *parameter.minimum);
    if (parameter.maximum) schema.emplace("maximum", *parameter.maximum);
  }
  if (parameter.empty == Empty::kRefused && parameter.type == Type::kText) schema.emplace("minLength", 1);
  if (parameter.empty == Empty::kRefused && parameter.type == Type::kTexts) schema.emplace("minItems", 1);
  if (parameter.type == Type::kTexts) schema.emplace("maxItems", kListArgumentsMax);
  if (!parameter.choices.empty()) {
    schema.emplace("enum", Value::List(parameter.choices.begin(), parameter.choices.end()));
  }
  if (parameter.pattern.matches != nullptr) schema.emplace("pattern", parameter.pattern.expression);
  if (const auto* number = std::get_if<std::int64_t>(&parameter.fallback)) schema.emplace("default", *number);
  if (const auto* truth = std::get_if<bool>(&parameter.fallback)) schema.emplace("default", *truth);
  if (const auto* text = std::get_if<std::string_view>(&parameter.fallback)) schema.emplace("default", *text);
  return schema;
}

Value result_schema(std::span<const Field> fields) {
  Value::Object properties;
  Value::List required;
  for (const Field& field : fields) {
    Value::Object schema = type_schema(field.type);
    schema.emplace("description", field.description);
    properties.emplace(field.name, std::move(schema));
    if (field.presence == Presence::kRequired) required.emplace_back(field.name);
  }
  return object_schema(std::move(properties), std::move(required));
}

Value::Object type_schema(Type type) {
  switch (type) {
    case Type::kText:
    case Type::kInteger:
    case Type::kBoolean: return {{"type", name_of(type)}};
    case Type::kTexts: return {{"type", "array"}, {"items", Value::Object{{"type", "string"}}}};
    case Type::kObjects: return {{"type", "array"}, {"items", Value::Object{{"type", "object"}}}};
  }
  return {};
}

Value::Object object_schema(Value::Object properties, Value::List required) {
  Value::Object schema = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema.emplace("required", std::move(required));
  return schema;
}

}  // namespace

}  // namespace hutch::tool
