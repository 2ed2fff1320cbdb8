// A plugin's tools as they are offered and called.
#include "service/plugins/tools.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "tool/schema.h"

namespace hutch::service {

namespace {

using plugin::Parameter;
using tool::Envelope;
using tool::Value;

constexpr std::size_t kShownBytesMax = 80;

std::string expected_text(const Parameter& parameter);
Value typed(const Parameter& parameter, const std::string& text);
std::optional<std::string> as_text(const Parameter& parameter, const Value& given);
std::expected<std::string, Envelope> variable_for(const Parameter& parameter, const Value* given);

}  // namespace

std::string plugin_tool_name(const plugin::Recipe& recipe, const plugin::Tool& tool) {
  return cat({recipe.id, "_", tool.id});
}

Value plugin_input_schema(const plugin::Tool& tool) {
  Value::Object properties;
  Value::List required;
  for (const Parameter& parameter : tool.parameters) {
    Value::Object schema = {{"type", plugin::name_of(parameter.kind)}};
    if (!parameter.description.empty()) schema.emplace("description", parameter.description);
    if (!parameter.choices.empty()) {
      schema.emplace("enum", Value::List(parameter.choices.begin(), parameter.choices.end()));
    }
    if (parameter.fallback) schema.emplace("default", typed(parameter, *parameter.fallback));
    if (!parameter.fallback) required.emplace_back(parameter.name);
    properties.emplace(parameter.name, std::move(schema));
  }
  Value::Object schema = {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) schema.emplace("required", std::move(required));
  return Value(std::move(schema));
}

Value plugin_output_schema() {
  static const tool::Field kFields[] = {
      {"stdout", tool::Type::kText, "What it printed."},
      {"stderr", tool::Type::kText, "What it printed on standard error."},
      {"exit_code", tool::Type::kInteger, "As a shell shows it; other than 0 the tool says that it failed."},
      {"cwd", tool::Type::kText, "The plugin's directory."}};
  return tool::output_schema(kFields);
}

std::expected<std::vector<std::string>, Envelope> plugin_variables(const plugin::Tool& tool,
                                                                   std::string_view arguments_json) {
  Value given(Value::Object{});
  if (arguments_json.find_first_not_of(" \t\r\n") != std::string_view::npos) {
    auto parsed = tool::parse_value(arguments_json, tool::kArgumentsBytesMax);
    if (!parsed) {
      return std::unexpected(tool::bad_argument("",
                                                cat({"The arguments cannot be read: ", parsed.error().message, "."}),
                                                "a JSON object of the tool's parameters"));
    }
    if (!parsed->is_null()) given = std::move(*parsed);
  }
  const auto* object = given.get<Value::Object>();
  if (object == nullptr) {
    return std::unexpected(
        tool::bad_argument("", "The arguments must be a JSON object.", "a JSON object of the tool's parameters"));
  }
  for (const auto& [name, value] : *object) {
    if (std::ranges::find(tool.parameters, name, &Parameter::name) != tool.parameters.end()) continue;
    std::vector<std::string> allowed;
    for (const Parameter& parameter : tool.parameters) allowed.push_back(parameter.name);
    return std::unexpected(
        tool::bad_argument(printable(name, kShownBytesMax),
                           cat({"Unexpected property `", printable(name, kShownBytesMax),
                                "`. Allowed: ", allowed.empty() ? "none" : join(allowed, ", "), "."}),
                           "no other properties than those allowed"));
  }
  std::vector<std::string> variables;
  for (const Parameter& parameter : tool.parameters) {
    const auto at = object->find(parameter.name);
    auto made = variable_for(parameter, at == object->end() || at->second.is_null() ? nullptr : &at->second);
    if (!made) return std::unexpected(std::move(made).error());
    variables.push_back(std::move(*made));
  }
  return variables;
}

namespace {

std::expected<std::string, Envelope> variable_for(const Parameter& parameter, const Value* given) {
  const auto wrong = [&](std::string message) {
    return std::unexpected(tool::bad_argument(parameter.name, std::move(message), expected_text(parameter)));
  };
  if (given == nullptr && !parameter.fallback) {
    return wrong(cat({"Missing required argument `", parameter.name, "` (", expected_text(parameter), ")."}));
  }
  const std::optional<std::string> text = given == nullptr ? parameter.fallback : as_text(parameter, *given);
  if (!text) {
    return wrong(cat({"Argument `", parameter.name, "` must be of type ", plugin::name_of(parameter.kind), ". Got ",
                      printable(tool::json_text(*given), kShownBytesMax), "."}));
  }
  if (text->contains('\0')) return wrong(cat({"Argument `", parameter.name, "` must not contain a NUL byte."}));
  const std::string entry = cat({plugin::variable_of(parameter.name), "=", *text});
  if (entry.size() > tool::kTextBytesMax) {
    return wrong(cat({"Argument `", parameter.name, "` is too long: at most ", std::to_string(tool::kTextBytesMax),
                      " bytes are taken; give larger data as a file."}));
  }
  const auto& choices = parameter.choices;
  if (!choices.empty() && std::ranges::find(choices, *text) == choices.end()) {
    return wrong(
        cat({"Argument `", parameter.name, "` is none of its choices. Got ", printable(*text, kShownBytesMax), "."}));
  }
  return entry;
}

std::string expected_text(const Parameter& parameter) {
  if (!parameter.choices.empty()) return cat({"one of ", join(parameter.choices, ", ")});
  return std::string(plugin::name_of(parameter.kind));
}

// A default as its own type; one that is no JSON is the text that it is.
Value typed(const Parameter& parameter, const std::string& text) {
  if (parameter.kind == plugin::Kind::kString) return Value(text);
  auto value = tool::parse_value(text, tool::kArgumentsBytesMax);
  return value ? std::move(*value) : Value(text);
}

bool fits(plugin::Kind kind, const Value& value) {
  const auto* real = value.get<double>();
  switch (kind) {
    case plugin::Kind::kString: return value.get<std::string>() != nullptr;
    case plugin::Kind::kInteger: return value.get<std::int64_t>() != nullptr;
    case plugin::Kind::kNumber:
      return value.get<std::int64_t>() != nullptr || (real != nullptr && std::isfinite(*real));
    case plugin::Kind::kBoolean: return value.get<bool>() != nullptr;
    case plugin::Kind::kArray: return value.get<Value::List>() != nullptr;
    case plugin::Kind::kObject: return value.get<Value::Object>() != nullptr;
  }
  return false;
}

// A model that writes "5" for 5, or 5.0, means it.
std::optional<std::string> as_text(const Parameter& parameter, const Value& given) {
  if (parameter.kind == plugin::Kind::kString) {
    const auto* text = given.get<std::string>();
    return text != nullptr ? std::optional(*text) : std::nullopt;
  }
  if (fits(parameter.kind, given)) return tool::json_text(given);
  if (const auto* real = given.get<double>(); real != nullptr && parameter.kind == plugin::Kind::kInteger) {
    const bool whole = std::trunc(*real) == *real && std::abs(*real) < 1e15;
    return whole ? std::optional(std::to_string(static_cast<std::int64_t>(*real))) : std::nullopt;
  }
  const auto* text = given.get<std::string>();
  if (text == nullptr) return std::nullopt;
  const auto read = tool::parse_value(*text, tool::kArgumentsBytesMax);
  return read && fits(parameter.kind, *read) ? std::optional(tool::json_text(*read)) : std::nullopt;
}

}  // namespace

}  // namespace hutch::service
