// What can be done with plugins.
#include "server/plugin_desk.h"

#include <algorithm>

#include "base/text.h"
#include "service/agent_scrubber.h"
#include "service/plugins.h"
#include "service/scrubbed_value.h"
#include "store/spool.h"

namespace hutch::server {

namespace {

using service::Plugins;
using tool::Value;

Error no_plugin(const std::string& id) {
  return Error::not_found(
      cat({"there is no plugin ", printable(id, 64), " in the library: hutch plugin list --library shows them"}));
}

// What an agent wrote may hold its secrets, whoever looks at it; whose it is nobody knows of an older version.
bool is_agents(const plugin::Recipe& recipe) { return recipe.created_by == "agent"; }

Value::Object shown_entry(service::AgentService& agents, const plugin::Entry& entry) {
  Value::Object object = Plugins::entry_object(entry);
  if (is_agents(entry.recipe)) {
    service::scrub_members(service::scrubber_of_all(agents), object, {"name", "description", "version", "tools"});
  }
  return object;
}

Value::Object shown_install(service::AgentService& agents, const plugin::Install& install) {
  Value::Object object = Plugins::install_object(install);
  service::scrub_members(service::scrubber_of(agents, install.agent), object, {"name", "version", "tools", "log"});
  return object;
}

std::string now() { return store::format_time(store::now()); }

}  // namespace

Result<plugin::Entry> PluginDesk::entry_of(const std::string& id) {
  auto found = TRY(shared_.plugins.library().find(id));
  if (!found) return fail(no_plugin(id));
  return std::move(*found);
}

// Whoever is named, else all that may have some.
Result<PluginDesk::Installs> PluginDesk::installs_of(const std::string& agent) {
  plugin::Installs& installs = shared_.plugins.installs();
  if (!agent.empty()) {
    TRY(shared_.agents.show(agent));
    return installs.of(agent);
  }
  Installs all;
  for (const std::string& name : TRY(installs.agents())) {
    for (auto& install : TRY(installs.of(name))) all.push_back(std::move(install));
  }
  return all;
}

Result<Value> PluginDesk::library(Which which) {
  const bool only_new = which == Which::kNew;
  plugin::Library& library = shared_.plugins.library();
  Value::List list;
  for (const plugin::Entry& entry : TRY(library.list())) {
    if (!only_new || entry.origin.is_new) list.emplace_back(shown_entry(shared_.agents, entry));
  }
  if (only_new) TRY(library.mark_seen());
  return Value(std::move(list));
}

Result<Value> PluginDesk::installed(const std::string& agent) {
  Value::List list;
  for (const auto& install : TRY(installs_of(agent))) {
    auto object = shown_install(shared_.agents, *install);
    object.erase("log");
    list.emplace_back(std::move(object));
  }
  return Value(std::move(list));
}

Result<Value> PluginDesk::show(const std::string& id, const std::string& agent) {
  TRY(plugin::check_id(id));
  Value::List installs;
  for (const auto& install : TRY(installs_of(agent))) {
    if (install->recipe.id == id) installs.emplace_back(shown_install(shared_.agents, *install));
  }
  const auto entry = TRY(shared_.plugins.library().find(id));
  if (!entry && installs.empty()) return fail(no_plugin(id));
  Value::Object object = entry ? shown_entry(shared_.agents, *entry) : Value::Object{{"id", id}};
  object.emplace("installed", std::move(installs));
  return Value(std::move(object));
}

Result<std::string> PluginDesk::exported(const std::string& id, std::int64_t number) {
  const plugin::Entry entry = TRY(entry_of(id));
  const plugin::Recipe recipe =
      number == 0 ? entry.recipe : TRY(shared_.plugins.library().version(id, static_cast<int>(number)));
  std::string text = plugin::exported(recipe);
  return is_agents(recipe) ? service::scrubber_of_all(shared_.agents).scrub(text) : std::move(text);
}

Result<Value> PluginDesk::add(const plugin::Recipe& recipe, const std::string& from) {
  TRY(shared_.plugins.library().add(recipe, {.from = from, .time = now()}));
  return Value(Plugins::entry_object(TRY(entry_of(recipe.id))));
}

Result<Value> PluginDesk::duplicate(const std::string& id, const std::string& name) {
  const plugin::Entry entry = TRY(entry_of(id));
  const plugin::Recipe copy = TRY(plugin::renamed(entry.recipe, name));
  plugin::Library& library = shared_.plugins.library();
  if (TRY(library.find(copy.id))) return fail({Code::kConflict, 0, cat({"there is a plugin ", copy.id, " already"})});
  TRY(library.add(copy, {.from = cat({"copy of ", id}), .time = now()}));
  return Value(Plugins::entry_object(TRY(entry_of(copy.id))));
}

Result<plugin::Install> PluginDesk::install_for(const std::string& agent, const plugin::Recipe& recipe,
                                                const std::string& from, const Waiting& waiting) {
  Plugins::Wish wish{.agent = agent, .recipe = recipe, .from = from, .stop = waiting.stop};
  if (waiting.on_step) {
    wish.on_step = [&](std::string_view step, std::string_view line) { waiting.on_step(agent, step, line); };
  }
  return shared_.plugins.install(wish);
}

Result<Value> PluginDesk::install(const std::string& agent, const plugin::Recipe& recipe, const std::string& from,
                                  const Waiting& waiting) {
  return Value(shown_install(shared_.agents, TRY(install_for(agent, recipe, from, waiting))));
}

Result<Value> PluginDesk::install_kept(const std::string& agent, const std::string& id, const Waiting& waiting) {
  const plugin::Entry entry = TRY(entry_of(id));
  return install(agent, entry.recipe, entry.origin.from, waiting);
}

Result<Value> PluginDesk::spread(const std::string& id, const Waiting& waiting) {
  const plugin::Entry entry = TRY(entry_of(id));
  const std::string hash = plugin::content_hash(entry.recipe);
  Value::List done;
  for (const auto& install : TRY(installs_of(""))) {
    if (install->recipe.id != id) continue;
    if (plugin::content_hash(install->recipe) != hash) {
      TRY_CTX(install_for(install->agent, entry.recipe, entry.origin.from, waiting), cat({"agent ", install->agent}));
    }
    done.emplace_back(install->agent);
  }
  auto object = shown_entry(shared_.agents, entry);
  object.emplace("agents", std::move(done));
  return Value(std::move(object));
}

Result<Value> PluginDesk::update(const std::string& id, const std::optional<plugin::Recipe>& recipe,
                                 const std::string& from, const Waiting& waiting) {
  if (!recipe) return spread(id, waiting);
  TRY(entry_of(id));
  if (recipe->id != id) {
    return fail(Error::invalid(cat({from, " is plugin ", recipe->id, ": hutch plugin install takes it"})));
  }
  plugin::Library& library = shared_.plugins.library();
  const auto added = TRY(library.add(*recipe, {.from = from, .time = now()}));
  auto spreaded = spread(id, waiting);
  if (!spreaded) TRY(library.take_back(id, added));
  return spreaded;
}

Result<Value> PluginDesk::rollback(const std::string& id, std::int64_t number, const Waiting& waiting) {
  const plugin::Entry entry = TRY(entry_of(id));
  auto wanted = static_cast<int>(number);
  if (wanted == 0) {
    const auto current = std::ranges::find(entry.versions, entry.current);
    if (current == entry.versions.begin() || current == entry.versions.end()) {
      return fail(Error::invalid(cat({"plugin ", id, " has no version before ", std::to_string(entry.current)})));
    }
    wanted = *(current - 1);
  }
  plugin::Library& library = shared_.plugins.library();
  TRY(library.make_current(id, wanted));
  auto spreaded = spread(id, waiting);
  if (!spreaded) TRY(library.make_current(id, entry.current));
  return spreaded;
}

Result<Value> PluginDesk::remove(const std::string& id, const std::string& agent) {
  TRY(plugin::check_id(id));
  Plugins& plugins = shared_.plugins;
  Value::List agents;
  for (const auto& install : TRY(installs_of(agent))) {
    if (install->recipe.id != id) continue;
    TRY_CTX(plugins.uninstall(install->agent, id), cat({"agent ", install->agent}));
    agents.emplace_back(install->agent);
  }
  const bool from_library = agent.empty() && TRY(plugins.library().remove(id));
  if (agents.empty() && !from_library) {
    return fail(agent.empty() ? no_plugin(id) : Error::not_found(cat({"agent ", agent, " has no plugin ", id})));
  }
  return Value(Value::Object{{"id", id}, {"agents", std::move(agents)}, {"library", from_library}});
}

Status PluginDesk::expect_install(const std::string& agent, const std::string& id) {
  TRY(plugin::check_id(id));
  TRY(shared_.agents.show(agent));
  if (TRY(shared_.plugins.installs().find(agent, id))) return {};
  return fail(Error::not_found(cat({"agent ", agent, " has no plugin ", id})));
}

Result<Value> PluginDesk::values(const std::string& agent, const std::string& id) {
  TRY(expect_install(agent, id));
  const std::string begin = Plugins::values_of(id);
  Value::Object values;
  for (auto& [key, value] : TRY(shared_.agents.host_data().list(agent, begin))) {
    values.emplace(key.substr(begin.size()), std::move(value));
  }
  // Its programs may have written them.
  const Value shown = service::scrubbed(service::scrubber_of(shared_.agents, agent), Value(std::move(values)));
  return Value(Value::Object{{"id", id}, {"agent", agent}, {"values", shown}});
}

Result<Value> PluginDesk::value(const std::string& agent, const std::string& id, const std::string& key) {
  TRY(expect_install(agent, id));
  const auto found = TRY(shared_.agents.host_data().config(agent, cat({Plugins::values_of(id), key})));
  if (!found) return fail(Error::not_found(cat({"plugin ", id, " of ", agent, " has no value ", printable(key, 64)})));
  const std::string shown = service::scrubber_of(shared_.agents, agent).scrub(*found);
  return Value(Value::Object{{"id", id}, {"agent", agent}, {"key", key}, {"value", shown}});
}

Result<Value> PluginDesk::set_value(const std::string& agent, const std::string& id, const std::string& key,
                                    const std::string& value) {
  TRY(expect_install(agent, id));
  if (key.empty()) return fail(Error::invalid("a key is text that is not empty"));
  TRY(shared_.agents.host_data().set_config(agent, cat({Plugins::values_of(id), key}), value));
  return Value(Value::Object{{"id", id}, {"agent", agent}, {"key", key}, {"value", value}});
}

}  // namespace hutch::server
