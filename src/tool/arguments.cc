// From JSON to arguments: what is lenient, and every message about what is not.
#include "tool/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace hutch::tool {

namespace {

constexpr std::size_t kShownBytesMax = 80;

std::expected<Value::Object, Envelope> read_object(std::string_view json);
std::optional<Envelope> check_text(const Parameter& parameter, const std::string& text);
std::optional<Envelope> check_number(const Parameter& parameter, std::int64_t& number);
std::optional<Envelope> check_list(const Parameter& parameter, const Value::List& list);
std::optional<Value> coerce(const Value& given, Type type);
std::optional<Value> to_integer(const Value& given);
std::optional<Value> to_boolean(const Value& given);
std::optional<Value> to_texts(const Value& given);
std::string unexpected_text(std::string_view name, std::span<const Parameter> parameters);
std::string shown(const Value& given);
std::string_view with_article(Type type);

Envelope wrong(const Parameter& parameter, std::string message) {
  return bad_argument(parameter.name, std::move(message), expected_text(parameter));
}

}  // namespace

class ArgumentReader {
 public:
  explicit ArgumentReader(Value::Object given) : given_(std::move(given)) {}

  std::optional<Envelope> read(const Parameter& parameter) {
    const auto at = given_.find(parameter.name);
    if (at == given_.end() || at->second.is_null()) return absent(parameter);
    std::optional<Value> value = coerce(at->second, parameter.type);
    if (!value) {
      return wrong(parameter, fmt::format("Argument `{}` must be {} ({}). Got {}.", parameter.name,
                                          with_article(parameter.type), expected_text(parameter), shown(at->second)));
    }
    std::optional<Envelope> refused;
    if (const auto* text = value->get<std::string>()) refused = check_text(parameter, *text);
    if (const auto* list = value->get<Value::List>()) refused = check_list(parameter, *list);
    if (const auto* number = value->get<std::int64_t>()) {
      std::int64_t clamped = *number;
      refused = check_number(parameter, clamped);
      value = Value(clamped);
    }
    if (!refused) arguments_.values_.insert_or_assign(std::string(parameter.name), std::move(*value));
    return refused;
  }

  const Value::Object& given() const { return given_; }
  Arguments take() { return std::move(arguments_); }

 private:
  std::optional<Envelope> absent(const Parameter& parameter) {
    if (parameter.presence == Presence::kRequired) {
      return wrong(parameter,
                   fmt::format("Missing required argument `{}` ({}).", parameter.name, expected_text(parameter)));
    }
    std::visit(
        [&](const auto& fallback) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(fallback)>, std::monostate>) {
            arguments_.values_.insert_or_assign(std::string(parameter.name), Value(fallback));
          }
        },
        parameter.fallback);
    return std::nullopt;
  }

  Value::Object given_;
  Arguments arguments_;
};

const std::string& Arguments::text(std::string_view name) const {
  static const std::string kNone;
  const auto at = values_.find(name);
  const std::string* text = at == values_.end() ? nullptr : at->second.get<std::string>();
  return text == nullptr ? kNone : *text;
}

std::optional<std::int64_t> Arguments::number(std::string_view name) const {
  const auto at = values_.find(name);
  const std::int64_t* number = at == values_.end() ? nullptr : at->second.get<std::int64_t>();
  return number == nullptr ? std::nullopt : std::optional(*number);
}

bool Arguments::is_set(std::string_view name) const {
  const auto at = values_.find(name);
  const bool* truth = at == values_.end() ? nullptr : at->second.get<bool>();
  return truth != nullptr && *truth;
}

std::vector<std::string> Arguments::texts(std::string_view name) const {
  std::vector<std::string> texts;
  const auto at = values_.find(name);
  const Value::List* list = at == values_.end() ? nullptr : at->second.get<Value::List>();
  if (list == nullptr) return texts;
  for (const Value& item : *list) {
    if (const auto* text = item.get<std::string>()) texts.push_back(*text);
  }
  return texts;
}

std::expected<Arguments, Envelope> read_arguments(std::span<const Parameter> parameters, std::string_view json) {
  std::expected<Value::Object, Envelope> object = read_object(json);
  if (!object) return std::unexpected(std::move(object).error());
  for (const auto& [name, value] : *object) {
    if (std::ranges::find(parameters, name, &Parameter::name) != parameters.end()) continue;
    return std::unexpected(bad_argument(printable(name, kShownBytesMax), unexpected_text(name, parameters),
                                        "no other properties than those allowed"));
  }
  ArgumentReader reader(std::move(*object));
  for (const Parameter& parameter : parameters) {
    if (std::optional<Envelope> refused = reader.read(parameter)) return std::unexpected(std::move(*refused));
  }
  return reader.take();
}

namespace {

std::expected<Value::Object, Envelope> read_object(std::string_view json) {
  if (json.find_first_not_of(" \t\r\n") == std::string_view::npos) return Value::Object{};
  const Result<Value> value = parse_value(json, kArgumentsBytesMax);
  if (!value) {
    return std::unexpected(bad_argument("", cat({"The arguments cannot be read: ", value.error().message, "."}),
                                        "a JSON object of the tool's parameters"));
  }
  if (value->is_null()) return Value::Object{};
  if (const auto* object = value->get<Value::Object>()) return *object;
  return std::unexpected(bad_argument("", cat({"The arguments must be a JSON object. Got ", shown(*value), "."}),
                                      "a JSON object of the tool's parameters"));
}

std::string unexpected_text(std::string_view name, std::span<const Parameter> parameters) {
  std::vector<std::string> allowed;
  for (const Parameter& parameter : parameters) allowed.emplace_back(parameter.name);
  return fmt::format("Unexpected property `{}`. Allowed: {}.", printable(name, kShownBytesMax),
                     allowed.empty() ? "none" : join(allowed, ", "));
}

std::optional<Value> coerce(const Value& given, Type type) {
  switch (type) {
    case Type::kText: return given.get<std::string>() ? std::optional(given) : std::nullopt;
    case Type::kInteger: return to_integer(given);
    case Type::kBoolean: return to_boolean(given);
    case Type::kTexts: return to_texts(given);
    case Type::kObjects: break;
  }
  return std::nullopt;
}

std::optional<Value> to_integer(const Value& given) {
  if (given.get<std::int64_t>()) return given;
  if (const auto* real = given.get<double>()) {
    const bool whole = std::trunc(*real) == *real && std::abs(*real) < 1e15;
    return whole ? std::optional<Value>(static_cast<std::int64_t>(*real)) : std::nullopt;
  }
  const auto* text = given.get<std::string>();
  if (text == nullptr) return std::nullopt;
  std::int64_t number = 0;
  const char* end = text->data() + text->size();
  const auto [at, error] = std::from_chars(text->data(), end, number);
  return error == std::errc() && at == end ? std::optional<Value>(number) : std::nullopt;
}

std::optional<Value> to_boolean(const Value& given) {
  if (given.get<bool>()) return given;
  if (const auto* number = given.get<std::int64_t>(); number != nullptr && (*number == 0 || *number == 1)) {
    return Value(*number == 1);
  }
  const auto* text = given.get<std::string>();
  if (text == nullptr) return std::nullopt;
  std::string lower = *text;
  std::ranges::transform(lower, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  if (lower == "true" || lower == "1" || lower == "yes") return Value(true);
  if (lower == "false" || lower == "0" || lower == "no") return Value(false);
  return std::nullopt;
}

std::optional<Value> to_texts(const Value& given) {
  const auto all_texts = [](const Value::List& list) {
    return std::ranges::all_of(list, [](const Value& item) { return item.get<std::string>() != nullptr; });
  };
  if (const auto* list = given.get<Value::List>()) return all_texts(*list) ? std::optional(given) : std::nullopt;
  const auto* text = given.get<std::string>();
  if (text == nullptr) return std::nullopt;
  if (text->starts_with('[')) {
    const Result<Value> parsed = parse_value(*text, kArgumentsBytesMax);
    const Value::List* list = parsed ? parsed->get<Value::List>() : nullptr;
    if (list != nullptr && all_texts(*list)) return Value(*list);
  }
  return Value(text->empty() ? Value::List{} : Value::List{*text});
}

std::optional<Envelope> check_text(const Parameter& parameter, const std::string& text) {
  const std::string expected = expected_text(parameter);
  if (text.empty() && parameter.empty == Empty::kRefused) {
    return wrong(parameter, fmt::format("Argument `{}` must not be empty ({}).", parameter.name, expected));
  }
  if (text.size() > parameter.bytes_max) {
    return wrong(parameter, fmt::format("Argument `{}` is too long: {} bytes, at most {} are taken.", parameter.name,
                                        text.size(), parameter.bytes_max));
  }
  if (parameter.nul == Nul::kRefused && text.find('\0') != std::string::npos) {
    return wrong(parameter, fmt::format("Argument `{}` must not contain a NUL byte ({}).", parameter.name, expected));
  }
  const std::vector<std::string_view>& choices = parameter.choices;
  const bool unknown = !choices.empty() && std::ranges::find(choices, text) == choices.end();
  if (unknown || (parameter.pattern.matches != nullptr && !parameter.pattern.matches(text))) {
    return wrong(parameter, fmt::format("Argument `{}` must be {}. Got {}.", parameter.name, expected, shown(text)));
  }
  return std::nullopt;
}

std::optional<Envelope> check_number(const Parameter& parameter, std::int64_t& number) {
  const bool low = parameter.minimum && number < *parameter.minimum;
  const bool high = parameter.maximum && number > *parameter.maximum;
  if (!low && !high) return std::nullopt;
  if (parameter.range == Range::kClamped) {
    number = low ? *parameter.minimum : *parameter.maximum;
    return std::nullopt;
  }
  return wrong(parameter, fmt::format("Argument `{}` is out of range ({}). Got {}.", parameter.name,
                                      expected_text(parameter), number));
}

std::optional<Envelope> check_list(const Parameter& parameter, const Value::List& list) {
  if (list.empty() && parameter.empty == Empty::kRefused) {
    return wrong(parameter,
                 fmt::format("Argument `{}` must not be empty ({}).", parameter.name, expected_text(parameter)));
  }
  if (list.size() > kListArgumentsMax) {
    return wrong(parameter, fmt::format("Argument `{}` has {} entries, at most {} are taken.", parameter.name,
                                        list.size(), kListArgumentsMax));
  }
  for (const Value& item : list) {
    const auto* text = item.get<std::string>();
    if (text == nullptr) continue;
    if (std::optional<Envelope> refused = check_text(parameter, *text)) return refused;
  }
  return std::nullopt;
}

std::string shown(const Value& given) {
  if (given.get<Value::List>()) return "an array";
  if (given.get<Value::Object>()) return "an object";
  if (const auto* text = given.get<std::string>()) return cat({"`", printable(*text, kShownBytesMax), "`"});
  return json_text(given);
}

std::string_view with_article(Type type) {
  switch (type) {
    case Type::kText: return "a string";
    case Type::kInteger: return "an integer";
    case Type::kBoolean: return "a boolean";
    case Type::kTexts: return "an array of strings";
    case Type::kObjects: return "an array of objects";
  }
  return "a string";
}

}  // namespace

}  // namespace hutch::tool
