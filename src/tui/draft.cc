// A policy that is being changed.
#include "tui/draft.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/json.h"
#include "base/text.h"

namespace hutch::tui {

namespace {

using json = nlohmann::ordered_json;
using policy::Edit;
using policy::EditKind;
using policy::Key;
using policy::KeyType;

constexpr std::array<std::string_view, 8> kBasic = {
    "enabled",
    "network",
    "network.allowedDomains",
    "network.deniedDomains",
    "filesystem.denyRead",
    "filesystem.allowRead",
    "filesystem.allowWrite",
    "filesystem.denyWrite",
};

json value_of(std::string_view policy, const Key& key);
std::string plain(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, json::error_handler_t::replace);
}
std::string_view network_form(const json& value);
std::string name_in(const Key& key, std::string_view item);
std::string path_item(const json& item);
std::string without_place(std::string_view message);

}  // namespace

Status Draft::set(const Key& key, const std::string& value) {
  return make({EditKind::kSet, std::string(key.name), value});
}

Status Draft::unset(const Key& key) { return make({EditKind::kRemove, std::string(key.name), std::nullopt}); }

Status Draft::add(const Key& key, const std::string& item) {
  if (kind_of(key) != FieldKind::kNames) return make({EditKind::kAdd, std::string(key.name), item});
  const std::size_t equals = item.find('=');
  if (equals == 0) return fail(Error::invalid("a name is missing: NAME=VALUE"));
  if (equals == std::string::npos && key.type != KeyType::kEnvironment) {
    return fail(Error::invalid("a value is missing: NAME=VALUE"));
  }
  const std::string value = equals == std::string::npos ? "true" : item.substr(equals + 1);
  return make({EditKind::kSet, name_in(key, item.substr(0, equals)), value});
}

Status Draft::remove(const Key& key, const std::string& item) {
  if (kind_of(key) == FieldKind::kNames) return make({EditKind::kRemove, name_in(key, item), std::nullopt});
  // A key of several words may be one text.
  if (!value_of(text_, key).is_array()) return unset(key);
  return make({EditKind::kRemove, std::string(key.name), item});
}

Status Draft::turn(const Key& key) {
  const json now = value_of(text_, key);
  const std::string name(key.name);
  if (now.is_object()) objects_[name] = now.dump();
  const auto back = [&]() -> Status {
    const auto object = objects_.find(name);
    if (object != objects_.end()) return set(key, object->second);
    return unset(key);
  };
  if (key.type == KeyType::kNetwork) {
    const std::string_view form = network_form(now);
    if (form == "none") return set(key, "outbound");
    if (form == "outbound") return back();
    if (now.is_array()) objects_[name] = json{{"allowedDomains", now}}.dump();
    return set(key, "none");
  }
  if (key.type == KeyType::kAsk) return now.is_boolean() ? back() : set(key, "false");
  // What is not set is off, but for the sandbox itself.
  const bool is_on = now.is_boolean() ? now.get<bool>() : key.name == "enabled";
  return set(key, is_on ? "false" : "true");
}

Status Draft::make(const Edit& edit) {
  std::string text = TRY(policy::edited(text_, edit));
  const Status checked = policy::check_policy_text(text, "");
  if (!checked) {
    return fail(Error::invalid(without_place(checked.error().message)));
  }
  if (text == text_) return {};
  text_ = std::move(text);
  edits_.push_back(edit);
  if (parse_ordered_json(text_) == parse_ordered_json(saved_)) edits_.clear();
  return {};
}

std::vector<const Key*> fields(FieldSet set) {
  std::vector<const Key*> shown;
  for (const std::string_view name : kBasic) {
    shown.push_back(policy::find_key(name));
    CHECK(shown.back() != nullptr);
  }
  if (set == FieldSet::kBasic) return shown;
  for (const Key& key : policy::all_keys()) {
    if (key.type != KeyType::kObject && std::ranges::find(kBasic, key.name) == kBasic.end()) shown.push_back(&key);
  }
  return shown;
}

FieldKind kind_of(const Key& key) {
  switch (key.type) {
    case KeyType::kBoolean:
    case KeyType::kNetwork:
    case KeyType::kAsk: return FieldKind::kTurn;
    case KeyType::kStrings:
    case KeyType::kPaths:
    case KeyType::kDomains:
    case KeyType::kWords:
    case KeyType::kHttpRules:
    case KeyType::kUdp:
    case KeyType::kPorts:
    case KeyType::kPublished:
    case KeyType::kList: return FieldKind::kList;
    case KeyType::kStringMap:
    case KeyType::kEnvironment: return FieldKind::kNames;
    case KeyType::kInteger:
    case KeyType::kString:
    case KeyType::kDuration:
    case KeyType::kSize:
    case KeyType::kCpus:
    case KeyType::kDnsDenial:
    case KeyType::kObject:
    case KeyType::kAny: break;
  }
  return FieldKind::kScalar;
}

std::string value_text(std::string_view policy, const Key& key) {
  const json value = value_of(policy, key);
  if (key.type == KeyType::kNetwork) return std::string(network_form(value));
  if (key.type == KeyType::kAsk) return value.is_boolean() ? "false: no questions" : "questions";
  if (value.is_discarded()) return "";
  if (kind_of(key) != FieldKind::kList && kind_of(key) != FieldKind::kNames) return plain(value);
  std::vector<std::string> shown;
  for (const Item& item : items_of(policy, key)) shown.push_back(item.shown);
  if (shown.empty()) return "empty";
  return cat({std::to_string(shown.size()), ": ", join(shown, ", ")});
}

std::string scalar_text(std::string_view policy, const Key& key) {
  const json value = value_of(policy, key);
  return value.is_discarded() ? "" : plain(value);
}

std::vector<Item> items_of(std::string_view policy, const Key& key) {
  const json value = value_of(policy, key);
  std::vector<Item> items;
  if (value.is_object()) {
    for (const auto& [name, content] : value.items()) {
      items.push_back({content.is_string() ? cat({name, "=", content.get<std::string>()}) : name, name});
    }
    return items;
  }
  if (value.is_string()) return {{plain(value), plain(value)}};
  if (!value.is_array()) return items;
  for (const json& item : value) {
    items.push_back({plain(item), key.type == KeyType::kPaths ? path_item(item) : plain(item)});
  }
  return items;
}

namespace {

// Discarded where it is not set.
json value_of(std::string_view policy, const Key& key) {
  const auto value = policy::value_at(policy, key.name);
  if (!value || !*value) return json(json::value_t::discarded);
  return parse_ordered_json(**value);
}

std::string_view network_form(const json& value) {
  if (value == "none") return "none";
  if (value == "outbound") return "outbound";
  if (value == "host") return "host";
  return "rules";
}

std::string name_in(const Key& key, std::string_view item) { return cat({key.name, ".", item}); }

// A path that begins like an object would be read as one.
std::string path_item(const json& item) {
  const bool is_brace = item.is_string() && item.get_ref<const std::string&>().starts_with('{');
  return is_brace ? json{{"path", item}}.dump() : plain(item);
}

// A message begins with the source and the line, of a text that nobody sees here: ": line 3: enabled: must be ...".
std::string without_place(std::string_view message) {
  if (message.starts_with(": ")) message.remove_prefix(2);
  if (message.starts_with("line ")) message.remove_prefix(std::min(message.find(": ") + 2, message.size()));
  return std::string(message);
}

}  // namespace

}  // namespace hutch::tui
