// What a sandbox may have of the host.
#include "service/bridge/host_services.h"

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "service/agent/secrets.h"
#include "service/bridge/inference.h"
#include "service/plugins/run.h"
#include "store/spool.h"
#include "tool/value.h"

namespace hutch::service {

namespace {

using bridge::Call;
using bridge::Fault;
using bridge::Service;
using Reply = HostServices::Reply;
using tool::Value;

// Of an agent in an hour, and of each of its plugins: each is a record, and the record has an end.
constexpr std::size_t kLogLinesMax = 1000;
// Of what a plugin has by itself, an agent's have so much together.
constexpr std::size_t kOfAllPlugins = 4;
constexpr std::size_t kPluginConnectionsMax = 32;  // of an agent's together
// A value of 64 KiB, whatever escapes it is written with, is not counted: every connection may send one.
constexpr std::uint64_t kSmallBodyBytes = 400 << 10;
constexpr std::uint64_t kLargeBodiesBytes = 32 << 20;  // of an agent's connections together
constexpr std::size_t kMemoriesShown = 10;

std::unexpected<Fault> fault(int status, std::string message) {
  return std::unexpected(Fault{status, std::move(message)});
}

BridgeReply reply(const Value::Object& object, std::string text = {}) {
  return {.json = tool::json_text(Value(object)), .text = std::move(text)};
}

// What is done by the agent itself would be done with all that the agent may.
std::expected<void, Fault> check_plugin(const PluginRights* plugin, const Call& call) {
  if (plugin == nullptr) return {};
  if (call.service == Service::kDispatch || call.service == Service::kPluginCreate ||
      call.service == Service::kPluginCheck) {
    return fault(403, "A plugin whose permissions are fewer than its agent's does nothing in the agent's name");
  }
  if (call.service == Service::kEmit && std::ranges::find(plugin->emits, call.name) == plugin->emits.end()) {
    return fault(403, "The plugin's recipe does not declare this event: events.emit lists those that it tells");
  }
  if (call.service == Service::kSecret && !may_have(*plugin, call.name)) {
    return fault(403, "This secret is not among those that the plugin's recipe lists");
  }
  return {};
}

int http_status(tool::Kind kind) {
  switch (kind) {
    case tool::Kind::kInvalidArgs: return 400;
    case tool::Kind::kRejected:
    case tool::Kind::kUserDenied: return 403;
    case tool::Kind::kUnavailable: return 503;
    default: return 500;
  }
}

std::int64_t milliseconds_now() { return store::now().time_since_epoch().count(); }

}  // namespace

std::unexpected<Fault> HostServices::fault_of(const AgentSandbox& agent, const Error& error) const {
  switch (error.code) {
    case Code::kInvalidArgument: return fault(400, error.message);
    case Code::kNotFound: return fault(404, error.message);
    case Code::kPermissionDenied: return fault(403, error.message);
    case Code::kConflict: return fault(409, error.message);
    case Code::kUnsupported: return fault(503, error.message);
    default: break;
  }
  // What the host is made of is nothing for a sandbox.
  if (tell_) tell_(cat({"agent ", agent.record().name, ": the bridge: ", error.message}));
  return fault(500, "hutch failed; its person finds why in the daemon's log");
}

std::expected<void, Fault> HostServices::take_use(const AgentSandbox& agent, const PluginRights* plugin,
                                                  Service service) {
  const std::string name(bridge::name_of(service));
  const std::string by(plugin != nullptr ? plugin_of(*plugin) : "");
  if (!by.empty() && !plugins_.has(agent.record().name, by)) return fault(403, "The plugin was removed");
  const auto now = std::chrono::steady_clock::now();
  const auto taken = rates_.take(agent.record().name, name, now, by);
  const BridgeShares::Rate of_all{kOfAllPlugins * tool::RateLimiter::most(name), std::chrono::minutes(1)};
  const bool is_refused = taken != tool::RateLimiter::Answer::kTaken;
  if (!is_refused && (by.empty() || shares_.count(agent.record().name, name, of_all, now))) return {};
  return fault(429, cat({"Rate limit exceeded for ", name, ": ", std::to_string(tool::RateLimiter::most(name)),
                         " in a minute"}));
}

HostServices::Share HostServices::take_body(const AgentSandbox& agent, std::uint64_t bytes) {
  if (bytes <= kSmallBodyBytes || bytes > bridge::kBodyBytesMax) return nullptr;
  if (auto share = shares_.take(agent.record().name, "bodies", bytes, kLargeBodiesBytes)) return share;
  return fault(429, cat({"Too much is sent at once: ", std::to_string(kLargeBodiesBytes >> 20),
                         " MiB of bodies are on their way; try again"}));
}

HostServices::Share HostServices::take_connection(const AgentSandbox& agent) {
  if (auto share = shares_.take(agent.record().name, "connections", 1, kPluginConnectionsMax)) return share;
  return fault(429, cat({"The agent's plugins have ", std::to_string(kPluginConnectionsMax),
                         " connections already; try again"}));
}

Reply HostServices::carry_out(AgentSandbox& agent, const PluginRights* plugin, const Call& call) {
  if (const auto taken = take_use(agent, plugin, call.service); !taken) return std::unexpected(taken.error());
  if (const auto may = check_plugin(plugin, call); !may) {
    agent.used(
        {.service = std::string(bridge::name_of(call.service)), .what = call.name, .outcome = may.error().message});
    return std::unexpected(may.error());
  }
  switch (call.service) {
    case Service::kSecret: return secret(agent, call);
    case Service::kConfigGet:
    case Service::kConfigSet: return config(agent, plugin, call);
    case Service::kDispatch: return dispatch(agent, call);
    case Service::kMemoryQuery: return query(agent, call);
    case Service::kMemoryStore: return store(agent, call);
    case Service::kLog: return log(agent, plugin, call);
    case Service::kEmit:
      plugins_.emit(agent, std::string(plugin != nullptr ? plugin_of(*plugin) : ""), call.name, call.text);
      return reply({});
    case Service::kPluginCreate: return make_plugin(agent, call);
    case Service::kPluginCheck: return try_plugin(agent, call);
    case Service::kInference:
    case Service::kListen: break;
  }
  return fault(404, "Not found");
}

Reply HostServices::secret(AgentSandbox& agent, const Call& call) {
  const auto found = agents_.secrets().find(agent.record().name, call.name);
  if (!found) return fault_of(agent, found.error());
  const auto use = [&](std::string_view outcome) {
    agent.used({.service = "secrets", .what = call.name, .outcome = std::string(outcome)});
  };
  if (!*found) {
    use("not there");
    return fault(404, "Secret not found");
  }
  if ((*found)->giving == secret::Giving::kPlaceholder) {
    use("refused: it is put into requests alone");
    return fault(403, "This secret is put into requests to its hosts, and given to nobody");
  }
  use("given");
  return reply({{"value", (*found)->value}}, (*found)->value);
}

Reply HostServices::make_plugin(AgentSandbox& agent, const Call& call) {
  const auto made = plugins_.make_from_text(agent.record().name, call.text);
  agent.used(
      {.service = "plugin", .what = made ? "made" : "refused", .outcome = made ? "installed" : made.error().message});
  if (!made) return fault(http_status(made.error().kind), made.error().message);
  const auto id = made->find("plugin_id");
  const auto* text = id == made->end() ? nullptr : id->second.get<std::string>();
  return reply(*made, text != nullptr ? *text : std::string());
}

Reply HostServices::try_plugin(AgentSandbox& agent, const Call& call) {
  const auto told = call.name.empty() ? plugins_.try_from_text(agent.record().name, call.text)
                                      : plugins_.try_from_directory(agent, call.name);
  agent.used({.service = "plugin", .what = "tried", .outcome = told ? "done" : told.error().message});
  if (!told) return fault(http_status(told.error().kind), told.error().message);
  return BridgeReply{.json = tool::json_text(*told), .text = tool::json_text(*told)};
}

// A plugin that the host knows has its own values and no others. Of the others, which run as the agent and with its
// files, each says whose values it means.
Reply HostServices::config(AgentSandbox& agent, const PluginRights* plugin, const Call& call) {
  const std::string& name = agent.record().name;
  const std::string id(plugin != nullptr ? plugin_of(*plugin) : call.plugin);
  if (!id.empty() && !plugin::check_id(id)) return fault(400, "The plugin has an id that is none");
  const std::string key = id.empty() ? call.name : cat({Plugins::values_of(id), call.name});
  if (call.service == Service::kConfigSet) {
    const Status set = id.empty() ? agents_.host_data().set_config(name, key, call.text)
                                  : plugins_.set_value(name, id, call.name, call.text);
    if (!set) return fault_of(agent, set.error());
    return reply({});
  }
  const auto value = agents_.host_data().config(name, key);
  if (!value) return fault_of(agent, value.error());
  if (!*value) return fault(404, "Config key not found");
  return reply({{"value", **value}}, **value);
}

Reply HostServices::dispatch(AgentSandbox& agent, const Call& call) {
  const std::string& own = agent.record().name;
  const std::string target = call.name.empty() ? own : call.name;
  // As it is set now, not as it was when the sandbox started.
  const auto shown = agents_.show(own);
  if (!shown) return fault_of(agent, shown.error());
  const auto& listed = shown->record.dispatch_to;
  if (target != own && std::ranges::find(listed, target) == listed.end()) {
    agent.used({.service = "dispatch", .what = target, .outcome = "refused: it is not in dispatchTo"});
    return fault(403, "This agent may dispatch as itself, and to those that its person listed, alone");
  }
  const auto task = tasks_.begin({.agent = target, .text = call.text});
  agent.used(
      {.service = "dispatch", .what = target, .outcome = task ? cat({"task ", (*task)->record().id}) : "failed"});
  if (!task) return fault_of(agent, task.error());
  const std::string id = (*task)->record().id;
  return reply({{"task_id", id}}, id);
}

std::expected<void, Fault> HostServices::infer(AgentSandbox& agent, const PluginRights* plugin, const Call& call,
                                               const std::function<Status(std::string_view)>& on_text,
                                               const std::function<bool()>& is_gone) {
  const std::string& name = agent.record().name;
  if (const auto taken = take_use(agent, plugin, call.service); !taken) return taken;
  if (plugin != nullptr && !plugin->inference) {
    agent.used({.service = "inference", .what = call.model, .outcome = cat({"refused: plugin ", plugin->plugin})});
    return fault(403, "This plugin may not use a model: its recipe has no permissions.inference");
  }
  const auto shown = agents_.show(name);
  if (!shown) return fault_of(agent, shown.error());
  if (!shown->record.inference) {
    agent.used({.service = "inference", .what = call.model, .outcome = "refused: inference is not set"});
    return fault(403, cat({"This agent may not use a model: its person can allow it by hutch agent set ", name,
                           " inference=true"}));
  }
  if (plugin == nullptr && plugins_.has_run_without_model(agent)) {
    agent.used({.service = "inference", .what = call.model, .outcome = "refused: a plugin without it has run here"});
    return fault(403,
                 cat({"Not before the sandbox's next start: a plugin that may not use a model has run in this one, "
                      "and may have left something running; its person can stop it by hutch agent stop ",
                      name}));
  }
  const auto settings = agents_.settings();
  if (!settings) return fault_of(agent, settings.error());
  ModelQuestion question{.endpoint = settings->inference, .key = {}, .model = call.model, .messages = call.messages};
  if (!question.endpoint.key_secret.empty()) {
    const auto key = agents_.secrets().find(std::string(kOwnSecrets), question.endpoint.key_secret);
    if (!key) return fault_of(agent, key.error());
    if (!*key)
      return fault(503, "The model's key is missing: hutch secret set --own, of the name in inference.keySecret");
    question.key = (*key)->value;
  }
  const Status asked = ask_model(question, on_text, is_gone);
  const std::string& model = question.model.empty() ? question.endpoint.model : question.model;
  agent.used({.service = "inference", .what = model, .outcome = asked ? "answered" : asked.error().message});
  if (asked) return {};
  // What the endpoint says is for whoever asked, and holds no key: it was asked for text.
  return fault(asked.error().code == Code::kUnsupported ? 503 : 502, asked.error().message);
}

Reply HostServices::query(AgentSandbox& agent, const Call& call) {
  const auto found = agents_.memories().find(agent.record().name, call.text, kMemoriesShown, milliseconds_now());
  if (!found) return fault_of(agent, found.error());
  Value::List results;
  std::string text;
  for (const store::Memory& memory : *found) {
    const auto created = store::Time(std::chrono::milliseconds(memory.created));
    results.emplace_back(Value::Object{
        {"content", memory.content}, {"salience", memory.salience}, {"created_at", store::format_time(created)}});
    text += cat({text.empty() ? "" : "\n", memory.content});
  }
  return reply({{"results", std::move(results)}}, std::move(text));
}

Reply HostServices::store(AgentSandbox& agent, const Call& call) {
  store::Memory memory{.content = call.text, .created = milliseconds_now(), .source = "sandbox"};
  if (call.salience >= 0) memory.salience = call.salience;
  const auto added = agents_.memories().add(agent.record().name, memory);
  if (!added) return fault_of(agent, added.error());
  return reply({});
}

Reply HostServices::log(AgentSandbox& agent, const PluginRights* plugin, const Call& call) {
  const std::string& name = agent.record().name;
  const std::string by(plugin != nullptr ? plugin_of(*plugin) : "");
  const auto now = BridgeShares::Clock::now();
  const BridgeShares::Rate each{kLogLinesMax, std::chrono::hours(1)};
  const BridgeShares::Rate of_all{kOfAllPlugins * kLogLinesMax, std::chrono::hours(1)};
  const bool is_taken = shares_.count(name, cat({"lines of ", by}), each, now);
  if (!is_taken || (!by.empty() && !shares_.count(name, "lines", of_all, now))) {
    return fault(429, cat({"Rate limit exceeded for log: ", std::to_string(kLogLinesMax), " in an hour"}));
  }
  agent.used({.service = "log", .what = call.text, .outcome = call.name});
  return reply({});
}

void HostServices::forget(const std::string& agent) {
  rates_.forget(agent);
  shares_.forget(agent);
}

}  // namespace hutch::service
