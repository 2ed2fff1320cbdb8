// From the table of keys to a JSON Schema (draft 2020-12).
#include "policy/document/schema.h"

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "policy/keys.h"

namespace hutch::policy {

namespace {

using ordered_json = nlohmann::ordered_json;

ordered_json key_schema(const Key& key);
ordered_json type_schema(const Key& key);
ordered_json section_schema(std::string_view prefix);
ordered_json strings();
ordered_json rule_schema();
ordered_json with_unit(std::string_view pattern);
std::string described(const Key& key);

}  // namespace

std::string policy_schema() {
  ordered_json schema = {
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"title", "hutch policy"},
      {"description", "What a sandbox may do. The settings of sandbox-runtime are accepted as they are."}};
  schema.update(section_schema(""));
  return schema.dump(2) + "\n";
}

namespace {

ordered_json section_schema(std::string_view prefix) {
  ordered_json properties = ordered_json::object();
  for (const Key& key : all_keys()) {
    if (!key.name.starts_with(prefix)) continue;
    const std::string_view name = key.name.substr(prefix.size());
    if (name.find('.') == std::string_view::npos) properties[std::string(name)] = key_schema(key);
  }
  return {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
}

ordered_json key_schema(const Key& key) {
  ordered_json schema = {{"description", described(key)}};
  // What is refused unless it is off.
  if (key.meaning == Meaning::kRefused && key.type == KeyType::kBoolean) {
    schema["const"] = false;
    return schema;
  }
  schema.update(type_schema(key));
  return schema;
}

ordered_json type_schema(const Key& key) {
  const std::string section = cat({key.name, "."});
  switch (key.type) {
    case KeyType::kBoolean: return {{"type", "boolean"}};
    case KeyType::kInteger: return {{"type", "integer"}, {"minimum", key.minimum}, {"maximum", key.maximum}};
    case KeyType::kString: return {{"type", "string"}};
    case KeyType::kStrings:
    case KeyType::kDomains: return strings();
    case KeyType::kStringMap: return {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}};
    case KeyType::kPaths: {
      const ordered_json entry = {{"type", "object"},
                                  {"properties", {{"path", {{"type", "string"}}}, {"literal", {{"type", "boolean"}}}}},
                                  {"required", ordered_json::array({"path"})},
                                  {"additionalProperties", false}};
      return {{"type", "array"}, {"items", {{"anyOf", ordered_json::array({{{"type", "string"}}, entry})}}}};
    }
    case KeyType::kDuration: return with_unit("^[0-9]+(\\.[0-9]+)?(ms|s|m|min|h)?$");
    case KeyType::kSize: return with_unit("^[0-9]+(\\.[0-9]+)?([kKMGT](i?B)?|B)?$");
    case KeyType::kCpus: return with_unit("^[0-9]+(\\.[0-9]+)?$");
    case KeyType::kEnvironment:
      return {{"type", "object"},
              {"additionalProperties", {{"anyOf", ordered_json::array({{{"type", "string"}}, {{"const", true}}})}}}};
    case KeyType::kObject: return section_schema(section);
    case KeyType::kAsk: return {{"anyOf", ordered_json::array({{{"const", false}}, section_schema(section)})}};
    case KeyType::kNetwork:
      return {{"anyOf", ordered_json::array({{{"enum", {"none", "outbound", "host", "sandboxed", "trusted"}}},
                                             strings(),
                                             section_schema(section)})}};
    case KeyType::kWords: return {{"anyOf", ordered_json::array({{{"type", "string"}}, strings()})}};
    case KeyType::kDnsDenial: return {{"enum", {"refused", "nxdomain"}}};
    case KeyType::kHttpRules: return {{"type", "array"}, {"items", rule_schema()}};
    case KeyType::kUdp:
      return {{"type", "array"}, {"items", {{"type", "string"}, {"pattern", "^[^*/]+:[1-9][0-9]*$"}}}};
    case KeyType::kPorts:
      return {{"type", "array"}, {"items", {{"type", "integer"}, {"minimum", 1}, {"maximum", 65535}}}};
    case KeyType::kPublished:
      return {{"type", "array"}, {"items", {{"type", "string"}, {"pattern", "^[1-9][0-9]*:[1-9][0-9]*$"}}}};
    case KeyType::kList: return {{"type", "array"}};
    case KeyType::kAny: break;
  }
  return ordered_json::object();
}

ordered_json strings() { return {{"type", "array"}, {"items", {{"type", "string"}}}}; }

ordered_json rule_schema() {
  const auto list = [](std::string_view pattern) -> ordered_json {
    return {{"type", "array"}, {"minItems", 1}, {"items", {{"type", "string"}, {"pattern", pattern}}}};
  };
  const ordered_json headers = {
      {"type", "object"},
      {"properties",
       {{"set", {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}}}, {"remove", strings()}}},
      {"additionalProperties", false}};
  return {
      {"type", "object"},
      {"properties",
       {{"host", {{"type", "string"}}}, {"methods", list("^[^a-z]+$")}, {"paths", list("^/")}, {"headers", headers}}},
      {"required", ordered_json::array({"host"})},
      {"additionalProperties", false}};
}

ordered_json with_unit(std::string_view pattern) {
  return {{"anyOf", ordered_json::array(
                        {{{"type", "number"}, {"exclusiveMinimum", 0}}, {{"type", "string"}, {"pattern", pattern}}})}};
}

std::string described(const Key& key) {
  switch (key.meaning) {
    case Meaning::kHonoured: return std::string(key.text);
    case Meaning::kNoMeaning:
    case Meaning::kOtherwise: return cat({"Read, without effect: ", key.text});
    case Meaning::kRefused: return cat({"Refused: ", key.text});
    case Meaning::kLater: return cat({"An error unless empty: ", key.text});
  }
  return {};
}

}  // namespace

}  // namespace hutch::policy
