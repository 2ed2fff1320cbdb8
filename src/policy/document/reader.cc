// From JSON text to a Policy: first every key and type against the table, then the values.
#include "policy/document/reader.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "policy/document/amend.h"
#include "policy/document/network_reader.h"
#include "policy/json_check.h"
#include "policy/keys.h"
#include "policy/obeyed/obeyed.h"
#include "policy/units.h"

namespace hutch::policy {

namespace {

using nlohmann::json;

Result<json> parse(std::string_view text);
Result<Policy> policy_of(const json& root);
Status check_object(const json& object, std::string_view section, Policy& policy);
Status check_value(const json& value, const Key& key, Policy& policy);
Status check_type(const json& value, const Key& key);
Status check_items(const json& value, const Key& key);
Status read_sections(const json& root, Policy& policy);
Status read_filesystem(const json& section, Policy& policy);
Status read_allowed_names(const json& names, std::vector<std::string>& allowed);
Status read_limits(const json& section, Limits& limits);
Status read_environment(const json& section, Policy& policy);
Status read_ask(const json& section, Policy& policy);
Result<std::string> scalar_text(const json& value);
const json* find_in(const json& object, std::string_view name);
bool is_off(const json& value);
bool is_project_key(std::string_view key);
bool is_network_word(const json& value);

}  // namespace

Result<Policy> read_policy(std::string_view text, std::string_view source) {
  const json root = TRY_CTX(parse(text), source);
  Policy policy = TRY_CTX(policy_of(root), source);
  policy.source = source;
  return policy;
}

Result<std::optional<Policy>> read_project(std::string_view text, std::string_view source, std::string_view directory) {
  const json root = TRY_CTX(parse(text), source);
  const json* best = nullptr;
  std::string best_path;
  for (const auto& [key, value] : root.items()) {
    if (!is_project_key(key)) {
      return fail(Error::invalid(cat({source, ": \"", printable(key),
                                      "\": a project is named by its absolute path, "
                                      "without . or .. in it"})));
    }
    std::string path = key;
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    if (!is_within(directory, path) || (best != nullptr && path.size() <= best_path.size())) continue;
    best = &value;
    best_path = std::move(path);
  }
  if (best == nullptr) return std::optional<Policy>();
  const std::string name = cat({source, " \"", printable(best_path), "\""});
  Policy policy = TRY_CTX(policy_of(*best), name);
  policy.source = name;
  policy.project = std::move(best_path);
  return std::optional(std::move(policy));
}

namespace {

Result<json> parse(std::string_view text) {
  TRY(check_json(text));
  json root = parse_json(text);
  if (!root.is_object()) return fail(Error::invalid("must be an object"));
  return root;
}

Result<Policy> policy_of(const json& root) {
  if (!root.is_object()) return fail(Error::invalid("must be an object"));
  Policy policy;
  TRY(check_object(root, "", policy));
  TRY(read_sections(root, policy));
  return policy;
}

Status check_object(const json& object, std::string_view section, Policy& policy) {
  for (const auto& [name, value] : object.items()) {
    const std::string full = cat({section, name});
    // A dot in the file's own key is no level of the table.
    const Key* key = name.find('.') == std::string::npos ? find_key(full) : nullptr;
    if (key == nullptr) return fail(Error::invalid(unknown_key_message(full)));
    TRY(check_value(value, *key, policy));
  }
  return {};
}

Status check_value(const json& value, const Key& key, Policy& policy) {
  TRY(check_type(value, key));
  if (value.is_object() &&
      (key.type == KeyType::kObject || key.type == KeyType::kNetwork || key.type == KeyType::kAsk)) {
    return check_object(value, cat({key.name, "."}), policy);
  }
  switch (key.meaning) {
    case Meaning::kHonoured: return {};
    case Meaning::kNoMeaning:
    case Meaning::kOtherwise:
      if (!is_off(value)) policy.notes.push_back(cat({key.name, " has no effect: ", key.text}));
      return {};
    case Meaning::kRefused:
    case Meaning::kLater:
      if (is_off(value)) return {};
      return fail({.code = Code::kUnsupported, .sys_errno = 0, .message = cat({key.name, ": ", key.text})});
  }
  return {};
}

Status check_type(const json& value, const Key& key) {
  bool right = true;
  switch (key.type) {
    case KeyType::kBoolean: right = value.is_boolean(); break;
    case KeyType::kInteger: right = value.is_number_integer(); break;
    case KeyType::kString: right = value.is_string(); break;
    case KeyType::kStrings:
    case KeyType::kPaths:
    case KeyType::kDomains:
    case KeyType::kPublished:
    case KeyType::kPorts:
    case KeyType::kUdp:
    case KeyType::kHttpRules:
    case KeyType::kList: right = value.is_array(); break;
    case KeyType::kWords: right = value.is_string() || value.is_array(); break;
    case KeyType::kDnsDenial: right = value == "refused" || value == "nxdomain"; break;
    case KeyType::kStringMap:
    case KeyType::kEnvironment:
    case KeyType::kObject: right = value.is_object(); break;
    case KeyType::kAsk: right = value.is_object() || value == false; break;
    case KeyType::kNetwork: right = value.is_object() || value.is_array() || is_network_word(value); break;
    case KeyType::kDuration:
    case KeyType::kSize:
    case KeyType::kCpus: right = value.is_string() || value.is_number(); break;
    case KeyType::kAny: break;
  }
  if (!right) {
    // The URL of a proxy may hold a password.
    const bool shown = value.is_string() && !key.name.starts_with("network.parentProxy");
    return fail(Error::invalid(cat(
        {key.name, ": must be ", name_of(key.type), ", not ",
         shown ? "\"" + printable(value.get_ref<const std::string&>(), 40) + "\"" : std::string(value.type_name())})));
  }
  if (key.type == KeyType::kInteger) {
    const bool fits = !value.is_number_unsigned() || value.get<std::uint64_t>() <= std::uint64_t{INT64_MAX};
    const std::int64_t number = fits ? value.get<std::int64_t>() : key.maximum + 1;
    if (number < key.minimum || number > key.maximum) {
      return fail(Error::invalid(
          cat({key.name, ": must be between ", std::to_string(key.minimum), " and ", std::to_string(key.maximum)})));
    }
  }
  return check_items(value, key);
}

Status check_items(const json& value, const Key& key) {
  const bool strings = key.type == KeyType::kStrings || key.type == KeyType::kStringMap ||
                       key.type == KeyType::kDomains || key.type == KeyType::kPaths ||
                       key.type == KeyType::kPublished || key.type == KeyType::kUdp ||
                       (key.type == KeyType::kWords && value.is_array());
  if (!strings) return {};
  std::size_t index = 0;
  for (const json& item : value) {
    const std::string name = cat({key.name, "[", std::to_string(index++), "]"});
    if (item.is_string()) continue;
    if (key.type != KeyType::kPaths) return fail(Error::invalid(cat({name, ": must be a string"})));
    if (!item.is_object()) {
      return fail(Error::invalid(cat({name, ": must be a string or {\"path\": ..., \"literal\": true}"})));
    }
    for (const auto& [part, content] : item.items()) {
      const bool known = (part == "path" && content.is_string()) || (part == "literal" && content.is_boolean());
      if (known) continue;
      return fail(Error::invalid(cat({name, ".", printable(part),
                                      ": an entry has \"path\", a string, and \"literal\", "
                                      "true or false"})));
    }
    if (find_in(item, "path") == nullptr) return fail(Error::invalid(cat({name, ": \"path\" is missing"})));
  }
  return {};
}

Status read_sections(const json& root, Policy& policy) {
  if (const json* value = find_in(root, "enabled"); value != nullptr && !value->get<bool>()) {
    policy.enabled = Switch::kDisabled;
  }
  if (const json* value = find_in(root, "backend")) policy.backend = value->get<std::string>();
  if (const json* value = find_in(root, "mandatoryDenySearchDepth")) policy.mandatory_search_depth = value->get<int>();
  if (const json* section = find_in(root, "filesystem")) TRY(read_filesystem(*section, policy));
  if (const json* section = find_in(root, "network")) policy.network = TRY(read_network(section->dump()));
  if (const json* section = find_in(root, "limits")) TRY(read_limits(*section, policy.limits));
  if (const json* section = find_in(root, "environment")) TRY(read_environment(*section, policy));
  if (const json* section = find_in(root, "ask")) TRY(read_ask(*section, policy));
  return {};
}

Status read_filesystem(const json& section, Policy& policy) {
  Filesystem& files = policy.filesystem;
  const std::pair<std::string_view, std::vector<PathEntry>*> lists[] = {
      {"denyRead", &files.deny_read},   {"allowRead", &files.allow_read},    {"allowWrite", &files.allow_write},
      {"denyWrite", &files.deny_write}, {"credentials", &files.credentials}, {"private", &files.own_directories}};
  for (const auto& [name, entries] : lists) {
    const json* list = find_in(section, name);
    if (list == nullptr) continue;
    if (list->size() > limits::kRulesMax) {
      return fail(
          Error::invalid(cat({"filesystem.", name, ": more than ", std::to_string(limits::kRulesMax), " entries"})));
    }
    for (const json& item : *list) {
      if (item.is_string()) {
        entries->push_back({item.get<std::string>(), EntryForm::kPattern});
        continue;
      }
      const json* literal = find_in(item, "literal");
      const bool is_literal = literal != nullptr && literal->get<bool>();
      entries->push_back({item["path"].get<std::string>(), is_literal ? EntryForm::kLiteral : EntryForm::kPattern});
    }
  }
  const json* git = find_in(section, "allowGitConfig");
  if (git != nullptr && git->get<bool>()) files.git_config = GitConfig::kWritable;
  const json* outer = find_in(section, "outerRepository");
  if (outer != nullptr && !outer->get<bool>()) files.outer_repositories = OuterRepositories::kLeft;
  if (const json* names = find_in(section, "allowObeyed")) TRY(read_allowed_names(*names, files.allow_obeyed));
  return {};
}

// A name that is not in the list would lift nothing, so it is an error.
Status read_allowed_names(const json& names, std::vector<std::string>& allowed) {
  std::vector<std::string_view> known;
  for (const ObeyedFile& file : obeyed_files()) known.push_back(file.name);
  for (const json& item : names) {
    std::string name = item.get<std::string>();
    if (find_obeyed(name) == nullptr) {
      const auto near = nearest(name, known);
      return fail(Error::invalid(
          cat({"filesystem.allowObeyed: \"", printable(name, 80), "\" is not in the list of obeyed files; ",
               near ? cat({"did you mean ", *near, "?"}) : "docs/obeyed.md has the names"})));
    }
    allowed.push_back(std::move(name));
  }
  return {};
}

Status read_limits(const json& section, Limits& limits) {
  const auto read = [&](std::string_view name, auto parser, auto& out) -> Status {
    const json* value = find_in(section, name);
    if (value == nullptr) return {};
    const std::string text = TRY_CTX(scalar_text(*value), cat({"limits.", name}));
    out = TRY_CTX(parser(text), cat({"limits.", name}));
    return {};
  };
  TRY(read("timeout", parse_duration, limits.timeout));
  TRY(read("idleTimeout", parse_duration, limits.idle_timeout));
  TRY(read("memory", parse_memory, limits.memory_bytes));
  TRY(read("cpus", parse_cpus, limits.cpu_millis));
  TRY(read("tmpSize", parse_size, limits.tmp_bytes));
  TRY(read("disk", parse_size, limits.disk_bytes));
  TRY(read("outputBytes", parse_size, limits.output_bytes));
  if (const json* pids = find_in(section, "pids")) limits.pids = pids->get<std::uint64_t>();
  return {};
}

Status read_environment(const json& section, Policy& policy) {
  for (const auto& [name, value] : section.items()) {
    if (value.is_string()) {
      policy.environment.push_back({name, value.get<std::string>()});
    } else if (value == true) {
      policy.environment.push_back({name, std::nullopt});
    } else {
      return fail(
          Error::invalid(cat({"environment.", printable(name), ": must be a string, or true for the caller's own"})));
    }
  }
  return {};
}

Status read_ask(const json& section, Policy& policy) {
  if (section == false) {
    policy.network.connect_questions = Asking::kNever;
    policy.asks = {Asking::kNever, Asking::kNever, Asking::kNever};
    return {};
  }
  for (const auto& [name, value] : section.items()) {
    if (name == "timeout") {
      const std::string text = TRY_CTX(scalar_text(value), "ask.timeout");
      policy.ask_timeout = TRY_CTX(parse_duration(text), "ask.timeout");
    } else if (value != "ask" && value != "deny") {
      return fail(Error::invalid(cat({"ask.", name, ": must be \"ask\" or \"deny\""})));
    } else {
      const Asking asking = value == "deny" ? Asking::kNever : Asking::kWanted;
      if (name == "connect") policy.network.connect_questions = asking;
      if (name == "read") policy.asks.read = asking;
      if (name == "write") policy.asks.write = asking;
      if (name == "socket") policy.asks.socket = asking;
    }
  }
  return {};
}

// Numbers are read again by the parsers of units, so that both spellings have the same bounds.
Result<std::string> scalar_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_unsigned()) return std::to_string(value.get<std::uint64_t>());
  if (value.is_number_float() && value.get<double>() > 0 && value.get<double>() < 1e15) return value.dump();
  return fail(Error::invalid("must be more than 0"));
}

const json* find_in(const json& object, std::string_view name) {
  const auto at = object.find(name);
  return at == object.end() ? nullptr : &*at;
}

bool is_off(const json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return false;
  if (value.is_string()) return value.get_ref<const std::string&>().empty();
  return value.empty();
}

bool is_network_word(const json& value) {
  return value.is_string() && (value == "host" || network_mode_of(value.get_ref<const std::string&>()).has_value());
}

bool is_project_key(std::string_view key) {
  if (!key.starts_with('/') || key.find('\0') != std::string_view::npos) return false;
  for (const std::string_view part : split(key, '/')) {
    if (part == "." || part == "..") return false;
  }
  return true;
}

}  // namespace

}  // namespace hutch::policy
