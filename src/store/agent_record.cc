// An agent's record and its JSON.
#include "store/agent_record.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "policy/document/presets.h"
#include "policy/network/domains.h"
#include "policy/units.h"
#include "wire/json_guard.h"

namespace hutch::store {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kCommandsPerTurnMax = 100'000;
constexpr int kCommandTimeoutMax = 86'400;
// An object whose keys are the user's own: it is set whole, or one of them at a time.
constexpr std::string_view kVariables = "codeAgent.env";
constexpr std::string_view kVariable = "codeAgent.env.";

Json json_of(const AgentRecord& record);
std::vector<std::string> leaf_names(const Json& object, const std::string& prefix);

// Reads the keys of one object; what is left over at the end is unknown.
class ObjectReader {
 public:
  ObjectReader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {}

  Status text(const char* key, std::string& into) {
    const Json* value = take(key);
    if (value == nullptr) return {};
    if (!value->is_string()) return wrong(key, "text");
    into = value->get<std::string>();
    return into.find('\0') == std::string::npos ? Status() : wrong(key, "text without NUL");
  }
  Status truth(const char* key, bool* into) {
    const Json* value = take(key);
    if (value == nullptr) return {};
    if (!value->is_boolean()) return wrong(key, "true or false");
    *into = value->get<bool>();
    return {};
  }
  Status number(const char* key, int& into, int min, int max) {
    const Json* value = take(key);
    if (value == nullptr) return {};
    const bool whole = value->is_number_integer() && *value >= min && *value <= max;
    if (!whole) return wrong(key, cat({"a whole number from ", std::to_string(min), " to ", std::to_string(max)}));
    into = value->get<int>();
    return {};
  }
  Status texts(const char* key, std::vector<std::string>& into) {
    const Json* value = take(key);
    if (value == nullptr) return {};
    const bool fits = value->is_array() && std::ranges::all_of(*value, [](const Json& one) { return one.is_string(); });
    if (!fits) return wrong(key, "a list of texts");
    into = value->get<std::vector<std::string>>();
    return {};
  }
  // Null where it is absent.
  Result<const Json*> object(const char* key) {
    const Json* value = take(key);
    if (value != nullptr && !value->is_object()) return fail(wrong(key, "an object").error());
    return value;
  }
  Status finish() const {
    for (const auto& [key, value] : object_.items()) {
      if (std::ranges::find(known_, key) != known_.end()) continue;
      const auto near = nearest(key, std::span<const std::string_view>(known_));
      return fail(Error::invalid(
          cat({where_, "unknown key ", printable(key), near ? cat({"; did you mean ", *near, "?"}) : std::string()})));
    }
    return {};
  }

 private:
  const Json* take(const char* key) {
    known_.emplace_back(key);
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  Status wrong(std::string_view key, std::string_view expected) const {
    return fail(Error::invalid(cat({where_, key, " must be ", expected})));
  }

  const Json& object_;
  std::string where_;
  std::vector<std::string_view> known_{};
};

Status read_limits(const Json* json, AgentLimits& limits) {
  if (json == nullptr) return {};
  ObjectReader in(*json, "limits.");
  TRY(in.text("memory", limits.memory));
  TRY(in.text("cpus", limits.cpus));
  TRY(in.text("pids", limits.pids));
  TRY(in.text("tmpSize", limits.tmp_size));
  TRY(in.text("disk", limits.disk));
  if (!limits.memory.empty()) TRY_CTX(policy::parse_size(limits.memory), "limits.memory");
  if (!limits.cpus.empty()) TRY_CTX(policy::parse_cpus(limits.cpus), "limits.cpus");
  if (!limits.pids.empty()) TRY_CTX(policy::parse_size(limits.pids), "limits.pids");
  if (!limits.tmp_size.empty()) TRY_CTX(policy::parse_size(limits.tmp_size), "limits.tmpSize");
  if (!limits.disk.empty()) TRY_CTX(policy::parse_size(limits.disk), "limits.disk");
  return in.finish();
}

Status read_autonomous(const Json* json, AutonomousExec& settings) {
  if (json == nullptr) return {};
  ObjectReader in(*json, "autonomousExec.");
  TRY(in.truth("enabled", &settings.enabled));
  TRY(in.number("maxCommandsPerTurn", settings.max_commands_per_turn, 0, kCommandsPerTurnMax));
  TRY(in.number("commandTimeout", settings.command_timeout, 1, kCommandTimeoutMax));
  TRY(in.truth("pluginCreate", &settings.plugin_create));
  return in.finish();
}

Status read_code_agent(const Json* json, CodeAgent& agent) {
  if (json == nullptr) return {};
  ObjectReader in(*json, "codeAgent.");
  TRY(in.text("command", agent.command));
  TRY(in.texts("args", agent.arguments));
  const Json* environment = TRY(in.object("env"));
  if (environment != nullptr) {
    for (const auto& [name, value] : environment->items()) {
      if (!value.is_string()) return fail(Error::invalid("codeAgent.env must be an object of texts"));
      agent.environment.emplace_back(name, value.get<std::string>());
    }
  }
  return in.finish();
}

Status read_network(ObjectReader& in, AgentNetwork& network) {
  TRY(in.text("network", network.mode));
  TRY(in.texts("allowedDomains", network.allowed_domains));
  TRY(in.texts("deniedDomains", network.denied_domains));
  static constexpr std::array<std::string_view, 5> kModes = {"", "none", "outbound", "rules", "registries"};
  if (std::ranges::find(kModes, network.mode) == kModes.end()) {
    return fail(
        Error::invalid(cat({"network: \"", printable(network.mode, 64),
                            "\" is none of none, outbound, rules (hosts of allowedDomains and of the policy) and "
                            "registries (those, and the package registries of this machine)"})));
  }
  for (const std::string& entry : network.allowed_domains) {
    TRY_CTX(policy::check_domain(entry, policy::DomainList::kAllowed), "allowedDomains");
  }
  for (const std::string& entry : network.denied_domains) {
    TRY_CTX(policy::check_domain(entry, policy::DomainList::kDenied), "deniedDomains");
  }
  return {};
}

// The daemon works in no directory of whoever typed them.
Status read_files(ObjectReader& in, AgentFiles& files) {
  TRY(in.texts("allowRead", files.allow_read));
  TRY(in.texts("allowWrite", files.allow_write));
  for (const auto& [key, list] :
       {std::pair("allowRead", &files.allow_read), std::pair("allowWrite", &files.allow_write)}) {
    for (const std::string& entry : *list) {
      if (entry.find('\0') == std::string::npos &&
          (entry.starts_with('/') || entry == "~" || entry.starts_with("~/"))) {
        continue;
      }
      return fail(
          Error::invalid(cat({key, ": ", printable(entry, 256), " is not an absolute path, nor one from ~ on"})));
    }
  }
  return {};
}

Result<AgentRecord> read_record(const Json& json) {
  if (!json.is_object()) return fail(Error::invalid("an agent is a JSON object"));
  AgentRecord record;
  ObjectReader in(json, "");
  TRY(in.text("name", record.name));
  TRY(check_agent_name(record.name));
  TRY(in.text("id", record.id));
  TRY(in.text("osUser", record.os_user));
  TRY(in.text("backend", record.backend));
  TRY(in.text("image", record.image));
  TRY(in.text("dir", record.dir));
  TRY(in.text("policy", record.policy));
  if (!record.dir.empty() && !record.dir.starts_with('/')) {
    return fail(Error::invalid(cat({"dir: ", printable(record.dir), " is not an absolute path"})));
  }
  if (!record.policy.empty() && !record.policy.starts_with('/') && !policy::may_be_preset(record.policy)) {
    return fail(Error::invalid(cat(
        {"policy: ", printable(record.policy), " is neither an absolute path nor a preset (hutch config preset)"})));
  }
  TRY(read_network(in, record.network));
  TRY(read_files(in, record.files));
  const Json* limits = TRY(in.object("limits"));
  TRY(read_limits(limits, record.limits));
  const Json* autonomous = TRY(in.object("autonomousExec"));
  TRY(read_autonomous(autonomous, record.autonomous_exec));
  TRY(in.truth("inference", &record.inference));
  TRY(in.texts("dispatchTo", record.dispatch_to));
  const Json* code_agent = TRY(in.object("codeAgent"));
  TRY(read_code_agent(code_agent, record.code_agent));
  TRY(in.finish());
  return record;
}

Json json_of(const AgentRecord& record) {
  Json environment = Json::object();
  for (const auto& [name, value] : record.code_agent.environment) environment[name] = value;
  const AutonomousExec& autonomous = record.autonomous_exec;
  return {{"name", record.name},
          {"id", record.id},
          {"osUser", record.os_user},
          {"backend", record.backend},
          {"image", record.image},
          {"dir", record.dir},
          {"policy", record.policy},
          {"network", record.network.mode},
          {"allowedDomains", record.network.allowed_domains},
          {"deniedDomains", record.network.denied_domains},
          {"allowRead", record.files.allow_read},
          {"allowWrite", record.files.allow_write},
          {"limits",
           {{"memory", record.limits.memory},
            {"cpus", record.limits.cpus},
            {"pids", record.limits.pids},
            {"tmpSize", record.limits.tmp_size},
            {"disk", record.limits.disk}}},
          {"autonomousExec",
           {{"enabled", autonomous.enabled},
            {"maxCommandsPerTurn", autonomous.max_commands_per_turn},
            {"commandTimeout", autonomous.command_timeout},
            {"pluginCreate", autonomous.plugin_create}}},
          {"inference", record.inference},
          {"dispatchTo", record.dispatch_to},
          {"codeAgent",
           {{"command", record.code_agent.command}, {"args", record.code_agent.arguments}, {"env", environment}}}};
}

// "limits.memory" and the like; an object without keys of its own, and a list, is one too.
std::vector<std::string> leaf_names(const Json& object, const std::string& prefix) {
  std::vector<std::string> names;
  for (const auto& [key, value] : object.items()) {
    if (value.is_object() && !value.empty() && cat({prefix, key}) != kVariables) {
      std::ranges::move(leaf_names(value, cat({prefix, key, "."})), std::back_inserter(names));
    } else {
      names.push_back(cat({prefix, key}));
    }
  }
  return names;
}

Result<AgentRecord> with_entry(Json json, const std::string& key, const std::string& entry) {
  static constexpr std::string_view kAllowed = "allowedDomains";
  static constexpr std::string_view kDenied = "deniedDomains";
  if (!json.contains(key) || !json[key].is_array()) {
    return fail(Error::invalid(cat({printable(key, 64), " is not a list: write ", printable(key, 64), "=VALUE"})));
  }
  const auto take = [&](Json& list) {
    std::erase_if(list.get_ref<Json::array_t&>(), [&](const Json& one) { return one == entry; });
  };
  if (key == kAllowed) take(json[std::string(kDenied)]);
  if (key == kDenied) take(json[std::string(kAllowed)]);
  if (std::ranges::find(json[key], Json(entry)) == json[key].end()) json[key].push_back(entry);
  return read_record(json);
}

}  // namespace

policy::BackendKind backend_kind(const AgentRecord& record) {
  return policy::backend_named(record.backend).value_or(policy::kBackendDefault);
}

Status check_agent_name(std::string_view name) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  const bool begins = !name.empty() && name.front() >= 'a' && name.front() <= 'z';
  if (begins && name.size() <= kAgentNameBytesMax && std::ranges::all_of(name, fits)) return {};
  return fail(Error::invalid(cat({"\"", printable(name, 64),
                                  "\" cannot be an agent's name: it begins with a letter a-z, has a-z, "
                                  "0-9 and - after that, and at most ",
                                  std::to_string(kAgentNameBytesMax), " characters"})));
}

std::string folded_name(std::string_view name) {
  std::string folded;
  for (const char c : name) {
    if (c != '-') folded += c;
  }
  return folded;
}

std::string format_agent(const AgentRecord& record) {
  return json_of(record).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<AgentRecord> parse_agent(std::string_view json) {
  TRY(wire::check_json_shape(json, limits::kJsonBytesMax));
  const Json parsed = parse_ordered_json(json);
  if (parsed.is_discarded()) return fail(Error::invalid("an agent's record is not JSON"));
  return read_record(parsed);
}

Result<AgentRecord> with_setting(const AgentRecord& record, std::string_view setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string_view::npos) {
    return fail(Error::invalid(cat({printable(setting, 64), ": a setting is KEY=VALUE"})));
  }
  const std::string key(setting.substr(0, equals));
  const std::string value(setting.substr(equals + 1));
  Json json = json_of(record);
  if (key.ends_with('+')) return with_entry(std::move(json), key.substr(0, key.size() - 1), value);
  if (key == "name" || key == "id") return fail(Error::invalid(cat({key, " cannot be set: it is the agent's own"})));
  if (key.starts_with(kVariable)) {
    json["codeAgent"]["env"][key.substr(kVariable.size())] = value;
    return read_record(json);
  }
  const std::vector<std::string> known = leaf_names(json, "");
  if (std::ranges::find(known, key) == known.end()) {
    const std::vector<std::string_view> names(known.begin(), known.end());
    const auto near = nearest(key, std::span<const std::string_view>(names));
    return fail(Error::invalid(
        cat({"an agent has no ", printable(key, 64), near ? cat({"; did you mean ", *near, "?"}) : std::string()})));
  }
  Json* place = &json;
  for (const std::string_view part : split(key, '.')) place = &(*place)[std::string(part)];
  if (place->is_string()) {
    *place = value;
  } else {
    const Status shape = wire::check_json_shape(value, limits::kJsonBytesMax);
    *place = shape ? parse_ordered_json(value) : Json(Json::value_t::discarded);
    if (place->is_discarded()) *place = value;  // said as the wrong type below
  }
  return read_record(json);
}

}  // namespace hutch::store
