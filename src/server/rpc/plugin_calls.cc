// Calls about plugins: the library, what agents have installed, and skills.
#include <array>

#include "base/text.h"
#include "host/machine/facts.h"
#include "policy/network/hosts.h"
#include "server/rpc/attended_call.h"
#include "server/rpc/session.h"
#include "server/state/plugin_desk.h"
#include "server/state/plugin_trial.h"
#include "service/agent/network.h"
#include "service/agent/skills.h"

namespace hutch::server {

namespace {

using Desk = PluginDesk;

Result<plugin::Recipe> recipe_argument(const CallReader& call) {
  const std::string json = TRY(call.bytes("recipe"));
  return plugin::parse_recipe(json);
}

Result<std::string> plugin_agent(Session& session, const CallReader& call) {
  std::string name = TRY(call.optional_text("agent"));
  service::AgentService& agents = session.shared().agents;
  if (name.empty()) {
    const std::string directory = TRY(call.text("directory"));
    return TRY(agents.of_directory(directory)).name;
  }
  TRY(agents.show(name));
  return name;
}

// Whether a yes of the person's would open any of this machine's package registries to a set-up.
bool may_reach_registries(service::AgentService& agents, const std::string& name) {
  const auto agent = agents.sandbox(name);
  const auto facts = host::probe_facts();
  if (!agent || !facts) return false;
  std::vector<std::pair<std::string, int>> hosts;
  for (const std::string& entry : service::registry_hosts(facts->home)) {
    const auto parsed = policy::parse_host_port(entry);
    if (parsed) hosts.emplace_back(parsed->host.name, parsed->port.value_or(0));
  }
  return (*agent)->registries_open(hosts);
}

// What its steps say goes to the client, whose end is the installation's.
Desk::Waiting told_to(Session& session, const std::stop_token& stop) {
  return {.on_step =
              [&session](const std::string& agent, std::string_view step, std::string_view line) {
                (void)session.tell(Value(Value::Object{{"agent", agent}, {"step", step}, {"line", line}}));
              },
          .stop = stop,
          .on_need =
              [&session](const std::string& agent, service::PluginWish::Need need) {
                const bool system = need == service::PluginWish::Need::kSystem;
                Value::Object told{{"agent", agent}};
                told["needs"] = system ? tool::kNeedsSystem : std::string_view("registries");
                told["registries"] = !system || may_reach_registries(session.shared().agents, agent);
                (void)session.tell(Value(std::move(told)));
              }};
}

Result<Value> list_plugins(Session& session, const CallReader& call) {
  const std::string agent = TRY(call.optional_text("agent"));
  return Desk(session.shared()).installed(agent);
}

Result<Value> list_library(Session& session, const CallReader& call) {
  const bool only_new = TRY(call.truth("new"));
  return Desk(session.shared()).library(only_new ? Desk::Which::kNew : Desk::Which::kAll);
}

Result<Value> show_plugin(Session& session, const CallReader& call) {
  const std::string id = TRY(call.text("id"));
  const std::string agent = TRY(call.optional_text("agent"));
  return Desk(session.shared()).show(id, agent);
}

Result<Value> import_plugin(Session& session, const CallReader& call) {
  const plugin::Recipe recipe = TRY(recipe_argument(call));
  const std::string from = TRY(call.text("from"));
  return Desk(session.shared()).add(recipe, from);
}

Result<Value> export_recipe(Session& session, const CallReader& call) {
  const std::string id = TRY(call.text("id"));
  const std::int64_t number = TRY(call.number("number", 0));
  const std::string recipe = TRY(Desk(session.shared()).exported(id, number));
  return Value(Value::Object{{"id", id}, {"recipe", recipe}});
}

Result<Value> duplicate_plugin(Session& session, const CallReader& call) {
  const std::string id = TRY(call.text("id"));
  const std::string name = TRY(call.text("name"));
  return Desk(session.shared()).duplicate(id, name);
}

Result<Value> install_plugin(Session& session, const CallReader& call) {
  const std::string agent = TRY(plugin_agent(session, call));
  const std::string id = TRY(call.optional_text("id"));
  using SetUp = service::PluginWish::SetUpNetwork;
  const SetUp set_up = TRY(call.truth("registries")) ? SetUp::kRegistries : SetUp::kOfAgent;
  std::optional<plugin::Recipe> recipe;
  if (id.empty()) recipe = TRY(recipe_argument(call));
  const std::string from = recipe ? TRY(call.text("from")) : std::string();
  return attended(session, [&session, agent, id, set_up, recipe, from](const std::stop_token& stop) {
    Desk::Waiting waiting = told_to(session, stop);
    waiting.set_up = set_up;
    Desk desk(session.shared());
    return recipe ? desk.install(agent, *recipe, from, waiting) : desk.install_kept(agent, id, waiting);
  });
}

Result<Value> update_plugin(Session& session, const CallReader& call) {
  const std::string id = TRY(call.text("id"));
  const std::string from = TRY(call.optional_text("from"));
  std::optional<plugin::Recipe> recipe;
  if (!from.empty()) recipe = TRY(recipe_argument(call));
  return attended(session, [&session, id, recipe, from](const std::stop_token& stop) {
    return Desk(session.shared()).update(id, recipe, from, told_to(session, stop));
  });
}

Result<Value> rollback_plugin(Session& session, const CallReader& call) {
  const std::string id = TRY(call.text("id"));
  const std::int64_t number = TRY(call.number("number", 0));
  return attended(session, [&session, id, number](const std::stop_token& stop) {
    return Desk(session.shared()).rollback(id, number, told_to(session, stop));
  });
}

Result<Value> remove_plugin(Session& session, const CallReader& call) {
  const std::string id = TRY(call.text("id"));
  const std::string agent = TRY(call.optional_text("agent"));
  return Desk(session.shared()).remove(id, agent);
}

// Of who resets the systems of agents without the daemon.
Result<Value> expect_reset(Session& session, const CallReader& call) {
  const std::string agent = TRY(call.text("agent"));
  TRY(session.shared().plugins.expect_reset(agent, {}));
  return Value(Value::Object{});
}

Result<Value> check_plugin(Session& session, const CallReader& call) {
  const plugin::Recipe recipe = TRY(recipe_argument(call));
  return attended(session, [recipe, &pool = session.shared().pool](const std::stop_token& stop) {
    return try_plugin(pool, recipe, stop);
  });
}

Result<Value> plugin_values(Session& session, const CallReader& call) {
  const std::string agent = TRY(plugin_agent(session, call));
  const std::string id = TRY(call.text("id"));
  return Desk(session.shared()).values(agent, id);
}

Result<Value> plugin_value(Session& session, const CallReader& call) {
  const std::string agent = TRY(plugin_agent(session, call));
  const std::string id = TRY(call.text("id"));
  const std::string key = TRY(call.text("key"));
  return Desk(session.shared()).value(agent, id, key);
}

Result<Value> set_plugin_value(Session& session, const CallReader& call) {
  const std::string agent = TRY(plugin_agent(session, call));
  const std::string id = TRY(call.text("id"));
  const std::string key = TRY(call.text("key"));
  const std::string text = TRY(call.text("value"));
  return Desk(session.shared()).set_value(agent, id, key, text);
}

Result<Value> skills(Session& session, const CallReader&) {
  const service::Skills skills(session.shared().agents.dirs());
  Value::List list;
  for (const service::Skill& skill : service::all_skills()) {
    list.emplace_back(Value::Object{{"id", skill.id},
                                    {"title", skill.title},
                                    {"summary", skill.summary},
                                    {"enabled", skills.is_enabled(skill.id)},
                                    {"text", skill.text}});
  }
  return Value(std::move(list));
}

// What agents may do by it changes with it.
Result<Value> switch_skill(Session& session, const CallReader& call) {
  using Switch = service::Skills::Switch;
  const std::string name = TRY(call.text("name"));
  const service::Skill* skill = service::find_skill(name);
  if (skill == nullptr) {
    return fail(Error::not_found(cat({"there is no skill ", printable(name, 64), ": hutch skill list shows them"})));
  }
  const bool on = TRY(call.truth("on"));
  TRY(service::Skills(session.shared().agents.dirs()).set(skill->id, on ? Switch::kOn : Switch::kOff));
  for (const auto& shown : TRY(session.shared().agents.list())) {
    session.shared().agents.tell_change(shown.record.name, service::kToolsChanged);
  }
  return Value(Value::Object{{"id", skill->id}, {"title", skill->title}, {"enabled", on}});
}

constexpr std::array kPluginVerbs = {
    Verb{"plugin.list", list_plugins},         Verb{"plugin.library", list_library},
    Verb{"plugin.show", show_plugin},          Verb{"plugin.import", import_plugin},
    Verb{"plugin.export", export_recipe},      Verb{"plugin.duplicate", duplicate_plugin},
    Verb{"plugin.install", install_plugin},    Verb{"plugin.update", update_plugin},
    Verb{"plugin.rollback", rollback_plugin},  Verb{"plugin.remove", remove_plugin},
    Verb{"plugin.values", plugin_values},      Verb{"plugin.value", plugin_value},
    Verb{"plugin.set", set_plugin_value},      Verb{"plugin.check", check_plugin},
    Verb{"plugin.expect_reset", expect_reset}, Verb{"skill.list", skills},
    Verb{"skill.switch", switch_skill}};

}  // namespace

std::span<const Verb> plugin_verbs() { return kPluginVerbs; }

}  // namespace hutch::server
