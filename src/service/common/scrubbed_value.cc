// A value without what its agent keeps secret.
#include "service/common/scrubbed_value.h"

#include <utility>

namespace hutch::service {

using tool::Value;

namespace {

// A value of digits alone is a number to whoever writes JSON.
Value scrubbed_number(const secret::Scrubber& scrubber, const Value& number) {
  if (!scrubber.withheld().empty()) return number;
  std::string text = scrubber.scrub(tool::json_text(number));
  return text == tool::json_text(number) ? number : Value(std::move(text));
}

}  // namespace

Value scrubbed(const secret::Scrubber& scrubber, const Value& value) {
  if (scrubber.empty() || value.is_null() || value.get<bool>() != nullptr) return value;
  if (const auto* text = value.get<std::string>()) return scrubber.scrub(*text);
  if (const auto* list = value.get<Value::List>()) {
    Value::List made;
    for (const Value& one : *list) made.push_back(scrubbed(scrubber, one));
    return Value(std::move(made));
  }
  const auto* object = value.get<Value::Object>();
  if (object == nullptr) return scrubbed_number(scrubber, value);
  if (!scrubber.withheld().empty()) return Value::Object{{"withheld", scrubber.withheld()}};
  Value::Object made;
  for (const auto& [name, one] : *object) made.emplace(scrubber.scrub(name), scrubbed(scrubber, one));
  return Value(std::move(made));
}

}  // namespace hutch::service
