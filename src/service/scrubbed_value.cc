// A value without what its agent keeps secret.
#include "service/scrubbed_value.h"

#include <utility>

namespace hutch::service {

using tool::Value;

Value scrubbed(const secret::Scrubber& scrubber, const Value& value) {
  if (scrubber.empty()) return value;
  if (const auto* text = value.get<std::string>()) return scrubber.scrub(*text);
  if (const auto* list = value.get<Value::List>()) {
    Value::List made;
    for (const Value& one : *list) made.push_back(scrubbed(scrubber, one));
    return Value(std::move(made));
  }
  const auto* object = value.get<Value::Object>();
  if (object == nullptr) return value;
  Value::Object made;
  for (const auto& [name, one] : *object) made.emplace(scrubber.scrub(name), scrubbed(scrubber, one));
  return Value(std::move(made));
}

}  // namespace hutch::service
