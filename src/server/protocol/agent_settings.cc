// An agent's settings as JSON has them.
#include "server/protocol/agent_settings.h"

#include "base/text.h"

namespace hutch::server {

namespace {

using tool::Value;

Status add_settings(const std::string& prefix, const Value& value, std::vector<std::string>& settings) {
  if (value.is_null())
    return fail(Error::invalid(cat({printable(prefix, 64), " is null: give a value, or leave it out"})));
  if (const auto* object = value.get<Value::Object>(); object != nullptr && !object->empty()) {
    for (const auto& [key, member] : *object) {
      TRY(add_settings(prefix.empty() ? key : cat({prefix, ".", key}), member, settings));
    }
    return {};
  }
  const auto* text = value.get<std::string>();
  settings.push_back(cat({prefix, "=", text != nullptr ? *text : tool::json_text(value)}));
  return {};
}

}  // namespace

Result<std::vector<std::string>> settings_of(const Value::Object& object) {
  std::vector<std::string> settings;
  if (!object.empty()) TRY(add_settings("", Value(object), settings));
  return settings;
}

}  // namespace hutch::server
