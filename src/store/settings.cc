// config.json by one table of keys: what is read, what is refused, the schema.
#include "store/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/ip_address.h"
#include "base/json.h"
#include "base/text.h"
#include "policy/json_check.h"
#include "policy/json_line.h"
#include "policy/network/domains.h"
#include "policy/units.h"

namespace hutch::store {

namespace {

using Json = nlohmann::ordered_json;

enum class Type {
  kSection,
  kText,
  kTruth,
  kCount,    // between minimum and maximum
  kIdle,     // a duration, or "never"
  kSize,     // "512M"; also "512m", as docker writes it
  kMemory,   // likewise, as much as a command needs
  kCpus,
  kRuntime,
  kNetwork,
  kListen,
  kPath,     // absolute
  kUrl,
  kHosts,
  kTexts,
  kTextMap,
};

struct Key {
  std::string_view name;
  Type type;
  std::string_view text;
  std::string_view otherwise{};  // what holds where it is not set
  int minimum = 0;
  int maximum = 0;
};

constexpr int kConnectionsMax = 1024;
constexpr int kTimeoutMax = 86'400;  // as an agent's commandTimeout
constexpr int kSandboxesMax = 100'000;
constexpr int kQueueMax = 1024;
constexpr std::size_t kTextBytesMax = 4096;

constexpr std::array kKeys = {
    Key{"$schema", Type::kText, "where an editor finds the JSON Schema"},
    Key{"daemon", Type::kSection, "of `hutch serve`; its options win"},
    Key{"daemon.idle", Type::kIdle, "it leaves after so long without a client and a process; \"never\": it stays",
        "10m; one that was started by hand stays"},
    Key{"daemon.listen", Type::kListen, "ADDRESS:PORT on which it serves HTTP and MCP as well",
        "the Unix socket alone"},
    Key{"daemon.tokenFile", Type::kPath,
        "the file of the token that those who connect by TCP show; made where it is "
        "not there",
        "`token` beside config.json"},
    Key{"daemon.maxConnections", Type::kCount, "connections that each of the two sockets serves at once", "1024", 1,
        kConnectionsMax},
    Key{"daemon.maxUpload", Type::kSize, "the largest file that is written by HTTP", "4G"},
    Key{"sandbox", Type::kSection, "what a new agent begins with; what `hutch agent create` says wins"},
    Key{"sandbox.runtime", Type::kRuntime, "its backend; docker is the backend container", "namespace"},
    Key{"sandbox.image", Type::kText,
        "its image, of a backend that has one; \"auto\": an agent's once something is installed, none in a pool",
        "none"},
    Key{"sandbox.network", Type::kNetwork,
        "of the pool's trusted sandboxes of the backend container: host is this machine's own, to which no rule "
        "applies",
        "gateway"},
    Key{"sandbox.defaults", Type::kSection, "limits of its commands"},
    Key{"sandbox.defaults.timeout", Type::kCount, "seconds that a tool's command may take that names no time",
        "30; 300 in the pool, and of tasks", 1, kTimeoutMax},
    Key{"sandbox.defaults.memoryLimit", Type::kMemory, "memory of all its processes together",
        "not limited; 512m in the pool"},
    Key{"sandbox.defaults.cpuLimit", Type::kCpus, "CPU time of all its processes together",
        "not limited; 1.0 in the pool"},
    Key{"security", Type::kSection, "what holds for all agents"},
    Key{"security.sandboxOnly", Type::kTruth,
        "the backend none, which isolates nothing, is refused, also to `hutch run`; false: nobody is",
        "to agents alone, not to `hutch run`"},
    Key{"security.askWithoutIsolation", Type::kTruth,
        "an agent of the backend none, where it may be had, starts when somebody has answered yes", "false"},
    Key{"security.gitBringsCommitted", Type::kTruth,
        "git in a sandbox may write a protected file as your commits have it", "false"},
    Key{"security.allowedHosts", Type::kHosts, "every agent may reach these besides what its policy allows", "none"},
    Key{"security.maxConcurrentSandboxes", Type::kCount,
        "agents' sandboxes that run at once; as many besides in the pool", "not limited; 3 in the pool", 1,
        kSandboxesMax},
    Key{"pool", Type::kSection, "sandboxes that are kept ready; read when the daemon starts to"},
    Key{"pool.warm", Type::kCount, "idle ones of each kind that somebody has asked for lately", "1", 0, kSandboxesMax},
    Key{"pool.queue", Type::kCount, "who may wait for one at the limit; one more is refused", "64", 0, kQueueMax},
    Key{"pool.wait", Type::kCount, "seconds that they wait", "30", 1, kTimeoutMax},
    Key{"pool.idle", Type::kCount, "seconds after which those go that nobody asks for", "600", 1, kTimeoutMax},
    Key{"inference", Type::kSection, "the model that agents with `inference` use through the host"},
    Key{"inference.baseUrl", Type::kUrl, "an endpoint that speaks as OpenAI's does", "none"},
    Key{"inference.model", Type::kText, "the model's name", "none"},
    Key{"inference.keySecret", Type::kText, "the name of the secret that holds the key; never the key itself", "none"},
    Key{"codeAgent", Type::kSection, "the coding agent that a new agent begins with"},
    Key{"codeAgent.command", Type::kText, "its program", "none"},
    Key{"codeAgent.args", Type::kTexts, "its arguments", "none"},
    Key{"codeAgent.env", Type::kTextMap, "variables that it gets", "none"},
};

// As other programs call the backend container.
constexpr std::string_view kDocker = "docker";

const Key* find_key(std::string_view name);
std::string unknown_key(std::string_view name);
Result<Json> checked(std::string_view text, std::string_view source);
std::optional<std::string> complaint(const Key& key, const Json& value);
Result<Json> typed_value(const Key& key, const std::string& text);
const Json* find(const Json& root, std::string_view name);
std::string text_in(const Json& root, std::string_view name);
std::optional<int> number_in(const Json& root, std::string_view name);
std::string plain(const Json& value);  // text unchanged, a number as written
// Docker's "512m" and "2g" as policy::parse_size takes them.
std::string size_text(const Json& value);

}  // namespace

Result<Settings> parse_settings(std::string_view text, std::string_view source) {
  const Json root = TRY(checked(text, source));
  Settings settings;
  if (const Json* idle = find(root, "daemon.idle")) {
    settings.daemon.idle = *idle == "never" ? std::chrono::milliseconds(0) : *policy::parse_duration(plain(*idle));
  }
  settings.daemon.listen = text_in(root, "daemon.listen");
  settings.daemon.token_file = text_in(root, "daemon.tokenFile");
  settings.daemon.connections_max = number_in(root, "daemon.maxConnections");
  if (const Json* most = find(root, "daemon.maxUpload")) {
    settings.daemon.upload_max = *policy::parse_size(size_text(*most));
  }
  settings.sandbox.backend = text_in(root, "sandbox.runtime");
  if (settings.sandbox.backend == kDocker) settings.sandbox.backend = "container";
  settings.sandbox.image = text_in(root, "sandbox.image");
  if (text_in(root, "sandbox.network") == "host") settings.sandbox.network = Settings::Sandbox::Network::kHost;
  settings.sandbox.timeout = number_in(root, "sandbox.defaults.timeout");
  if (const Json* memory = find(root, "sandbox.defaults.memoryLimit")) settings.sandbox.memory = size_text(*memory);
  if (const Json* cpus = find(root, "sandbox.defaults.cpuLimit")) settings.sandbox.cpus = plain(*cpus);
  if (const Json* only = find(root, "security.sandboxOnly")) settings.security.sandbox_only = only->get<bool>();
  if (const Json* asks = find(root, "security.askWithoutIsolation")) {
    settings.security.asks_without_isolation = asks->get<bool>();
  }
  if (const Json* brings = find(root, "security.gitBringsCommitted")) {
    settings.security.git_brings_committed = brings->get<bool>();
  }
  if (const Json* hosts = find(root, "security.allowedHosts")) hosts->get_to(settings.security.allowed_hosts);
  settings.security.sandboxes_max = number_in(root, "security.maxConcurrentSandboxes");
  settings.pool = {number_in(root, "pool.warm"), number_in(root, "pool.queue"), number_in(root, "pool.wait"),
                   number_in(root, "pool.idle")};
  settings.inference = {text_in(root, "inference.baseUrl"), text_in(root, "inference.model"),
                        text_in(root, "inference.keySecret")};
  settings.code_agent.command = text_in(root, "codeAgent.command");
  if (const Json* arguments = find(root, "codeAgent.args")) arguments->get_to(settings.code_agent.arguments);
  if (const Json* environment = find(root, "codeAgent.env")) {
    for (const auto& [name, value] : environment->items()) {
      settings.code_agent.environment.emplace_back(name, value.get<std::string>());
    }
  }
  return settings;
}

AgentRecord with_defaults(AgentRecord record, const Settings& settings) {
  const Settings::Sandbox& sandbox = settings.sandbox;
  record.backend = sandbox.backend;
  // Of another backend "auto" says nothing, and nobody has said it of this agent.
  const bool has_auto = backend_kind(record) == policy::BackendKind::kNamespace;
  if (has_auto || sandbox.image != kImageOnNeed) record.image = sandbox.image;
  record.limits.memory = sandbox.memory;
  record.limits.cpus = sandbox.cpus;
  record.autonomous_exec.command_timeout = sandbox.timeout.value_or(record.autonomous_exec.command_timeout);
  record.code_agent = settings.code_agent;
  return record;
}

Result<std::string> edited_settings(std::string_view text, std::string_view source, const SettingEdit& edit) {
  Json root = TRY(checked(text, source));
  const Key* key = find_key(edit.key);
  if (key == nullptr) return fail(Error::invalid(unknown_key(edit.key)));
  const std::vector<std::string_view> parts = split(edit.key, '.');
  if (edit.value) {
    Json value = TRY(typed_value(*key, *edit.value));
    Json* at = &root;
    for (const std::string_view part : parts) at = &(*at)[std::string(part)];
    *at = std::move(value);
    return root.dump(2) + "\n";
  }
  if (find(root, edit.key) == nullptr) return fail(Error::not_found(cat({edit.key, " is not set"})));
  Json* holder = &root;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) holder = &(*holder)[std::string(parts[i])];
  holder->erase(std::string(parts.back()));
  return root.dump(2) + "\n";
}

Result<std::optional<std::string>> setting_at(std::string_view text, std::string_view source, std::string_view key) {
  const Json root = TRY(checked(text, source));
  if (find_key(key) == nullptr) return fail(Error::invalid(unknown_key(key)));
  const Json* value = find(root, key);
  return value == nullptr ? std::optional<std::string>() : std::optional(value->dump());
}

std::vector<SettingText> setting_texts() {
  std::vector<SettingText> texts;
  for (const Key& key : kKeys) {
    if (!key.otherwise.empty()) texts.push_back({key.name, key.text, key.otherwise});
  }
  return texts;
}

namespace {

const Key* find_key(std::string_view name) {
  const auto found = std::ranges::find(kKeys, name, &Key::name);
  return found == kKeys.end() ? nullptr : &*found;
}

std::string unknown_key(std::string_view name) {
  const std::string message = cat({printable(name, 100), ": unknown key"});
  // Where Augure has it.
  if (name == "sandbox.codeAgent") return cat({message, "; write codeAgent, which is no part of sandbox"});
  std::vector<std::string_view> names;
  for (const Key& key : kKeys) names.push_back(key.name);
  if (const auto near = nearest(name, names)) return cat({message, "; did you mean ", *near, "?"});
  // The right name in the wrong section.
  const std::string_view own = name.substr(name.rfind('.') + 1);
  for (const Key& key : kKeys) {
    if (key.name.substr(key.name.rfind('.') + 1) == own) return cat({message, "; did you mean ", key.name, "?"});
  }
  return cat({message, "; hutch settings show lists those there are"});
}

// Where it is, and what is wrong with it.
struct Wrong {
  std::vector<std::string> path;
  std::string message;
};

std::optional<Wrong> first_wrong(const Json& object, const std::string& prefix, std::vector<std::string> path) {
  for (const auto& [name, value] : object.items()) {
    const std::string whole = cat({prefix, name});
    path.push_back(name);
    const Key* key = name.contains('.') ? nullptr : find_key(whole);
    if (key == nullptr) return Wrong{path, unknown_key(whole)};
    if (const auto wrong = complaint(*key, value)) return Wrong{path, cat({whole, ": ", *wrong})};
    if (key->type == Type::kSection) {
      if (auto wrong = first_wrong(value, whole + ".", path)) return wrong;
    }
    path.pop_back();
  }
  return std::nullopt;
}

Result<Json> checked(std::string_view text, std::string_view source) {
  TRY_CTX(policy::check_json(text), source);
  Json root = parse_ordered_json(text);
  if (!root.is_object()) return fail(Error::invalid(cat({source, ": must be an object"})));
  if (const auto wrong = first_wrong(root, "", {})) {
    const std::string line = std::to_string(policy::line_of(text, wrong->path));
    return fail(Error::invalid(cat({source, ": line ", line, ": ", wrong->message})));
  }
  return root;
}

bool is_plain_text(const Json& value) {
  return value.is_string() && value.get_ref<const std::string&>().size() <= kTextBytesMax &&
         value.get_ref<const std::string&>().find('\0') == std::string::npos;
}

bool are_texts(const Json& list) { return std::ranges::all_of(list, is_plain_text); }

bool is_listen(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return false;
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || colon + 1 == text.size()) return false;
  std::string host = text.substr(0, colon);
  if (host == "localhost") return true;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return parse_ip(host).has_value();
}

bool is_url(const std::string& text) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (text.starts_with(scheme)) {
      return text.size() > scheme.size() && std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
    }
  }
  return false;
}

std::optional<std::string> complaint_about_hosts(const Json& value) {
  if (!value.is_array() || !are_texts(value)) return "must be a list of hosts";
  for (const Json& host : value) {
    const Status allowed = policy::check_domain(host.get<std::string>(), policy::DomainList::kAllowed);
    if (!allowed) return allowed.error().message;
  }
  return std::nullopt;
}

std::optional<std::string> complaint_about_size(const Json& value) {
  const auto size = value.is_string() || value.is_number_integer() ? policy::parse_size(size_text(value))
                                                                   : Result<std::uint64_t>(std::uint64_t(0));
  // "0m" is no limit at all to docker, and surely not meant.
  return size && *size > 0 ? std::nullopt : std::optional<std::string>("must be a size: \"512M\", \"2G\"");
}

// No agent could start with less.
std::optional<std::string> complaint_about_memory(const Json& value) {
  if (auto complaint = complaint_about_size(value)) return complaint;
  const bool enough = policy::parse_memory(size_text(value)).has_value();
  return enough ? std::nullopt : std::optional<std::string>("must be at least 4M, better 64M");
}

std::optional<std::string> complaint(const Key& key, const Json& value) {
  const bool text = is_plain_text(value);
  bool fits = text;
  std::string expected = "text";
  switch (key.type) {
    case Type::kSize: return complaint_about_size(value);
    case Type::kMemory: return complaint_about_memory(value);
    case Type::kHosts: return complaint_about_hosts(value);
    case Type::kText: break;
    case Type::kSection:
      fits = value.is_object();
      expected = "an object";
      break;
    case Type::kTruth:
      fits = value.is_boolean();
      expected = "true or false";
      break;
    case Type::kCount:
      fits = value.is_number_integer() && value >= key.minimum && value <= key.maximum;
      expected = cat({"a whole number from ", std::to_string(key.minimum), " to ", std::to_string(key.maximum)});
      break;
    case Type::kIdle:
      fits = text && (value == "never" || policy::parse_duration(value.get<std::string>()));
      expected = "a time, \"10m\", or \"never\"";
      break;
    case Type::kCpus:
      fits = (text || value.is_number()) && policy::parse_cpus(plain(value));
      expected = "a number of CPUs: \"1.5\"";
      break;
    case Type::kRuntime:
      fits = text && (value == kDocker || policy::backend_named(value.get<std::string>()));
      expected = cat({policy::backend_list("or"), "; ", kDocker, " is container"});
      break;
    case Type::kNetwork:
      fits = value == "gateway" || value == "host";
      expected = "gateway or host";
      break;
    case Type::kListen:
      fits = text && is_listen(value.get<std::string>());
      expected = "an address and a port: \"127.0.0.1:8642\"";
      break;
    case Type::kPath:
      fits = text && value.get_ref<const std::string&>().starts_with('/');
      expected = "an absolute path";
      break;
    case Type::kUrl:
      fits = text && is_url(value.get<std::string>());
      expected = "a URL of http or https";
      break;
    case Type::kTexts:
      fits = value.is_array() && are_texts(value);
      expected = "a list of texts";
      break;
    case Type::kTextMap:
      fits = value.is_object() && are_texts(value);
      expected = "an object of texts";
      break;
  }
  return fits ? std::nullopt : std::optional(cat({"must be ", expected}));
}

Result<Json> typed_value(const Key& key, const std::string& text) {
  Json value;
  switch (key.type) {
    case Type::kSection: return fail(Error::invalid(cat({key.name, " is a section: set its keys, one by one"})));
    case Type::kTruth:
    case Type::kCount:
    case Type::kHosts:
    case Type::kTexts:
    case Type::kTextMap: {
      const Status shape = policy::check_json(text);
      value = shape ? parse_ordered_json(text) : Json(Json::value_t::discarded);
      if (value.is_discarded()) value = nullptr;  // of no key's type
      break;
    }
    default: value = text;
  }
  if (const auto wrong = complaint(key, value)) {
    return fail(Error::invalid(cat({key.name, ": ", *wrong, ", not \"", printable(text, 64), "\""})));
  }
  // What is not UTF-8 could be written, and not read again.
  const std::string written = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (parse_ordered_json(written) == value) return value;
  return fail(Error::invalid(cat({key.name, ": \"", printable(text, 64), "\" is not UTF-8, as JSON has to be"})));
}

const Json* find(const Json& root, std::string_view name) {
  const Json* at = &root;
  for (const std::string_view part : split(name, '.')) {
    const auto found = at->find(std::string(part));
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

std::string text_in(const Json& root, std::string_view name) {
  const Json* value = find(root, name);
  return value == nullptr ? std::string() : value->get<std::string>();
}

std::optional<int> number_in(const Json& root, std::string_view name) {
  const Json* value = find(root, name);
  return value == nullptr ? std::nullopt : std::optional(value->get<int>());
}

std::string plain(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

std::string size_text(const Json& value) {
  std::string text = plain(value);
  if (text.ends_with('m')) text.back() = 'M';
  if (text.ends_with('g')) text.back() = 'G';
  return text;
}

std::vector<std::string_view> runtimes() {
  std::vector<std::string_view> names = policy::backend_names(nullptr);
  names.push_back(kDocker);
  return names;
}

Json schema_of(const Key& key) {
  const auto of_type = [](std::string_view type) -> Json { return {{"type", type}}; };
  switch (key.type) {
    case Type::kSection: break;
    case Type::kTruth: return of_type("boolean");
    case Type::kCount: return {{"type", "integer"}, {"minimum", key.minimum}, {"maximum", key.maximum}};
    case Type::kIdle: return {{"type", "string"}, {"pattern", "^(never|[0-9]+(\\.[0-9]+)?(ms|s|m|min|h)?)$"}};
    case Type::kSize:
    case Type::kMemory: return {{"type", Json::array({"string", "integer"})}};
    case Type::kCpus: return {{"type", Json::array({"string", "number"})}};
    case Type::kRuntime: return {{"enum", runtimes()}};
    case Type::kNetwork: return {{"enum", {"gateway", "host"}}};
    case Type::kPath: return {{"type", "string"}, {"pattern", "^/"}};
    case Type::kUrl: return {{"type", "string"}, {"pattern", "^https?://"}};
    case Type::kHosts:
    case Type::kTexts: return {{"type", "array"}, {"items", of_type("string")}};
    case Type::kTextMap: return {{"type", "object"}, {"additionalProperties", of_type("string")}};
    case Type::kText:
    case Type::kListen: return of_type("string");
  }
  Json properties = Json::object();
  const std::string prefix = cat({key.name, key.name.empty() ? "" : "."});
  for (const Key& one : kKeys) {
    if (!one.name.starts_with(prefix)) continue;
    const std::string own(one.name.substr(prefix.size()));
    if (own.contains('.')) continue;
    Json schema = schema_of(one);
    schema["description"] = one.text;
    properties[own] = std::move(schema);
  }
  return {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
}

}  // namespace

std::string settings_schema() {
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "hutch settings"}};
  schema.update(schema_of({"", Type::kSection, ""}));
  return schema.dump(2) + "\n";
}

}  // namespace hutch::store
