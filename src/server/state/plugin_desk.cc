// What can be done with plugins.
#include "server/state/plugin_desk.h"

#include <algorithm>

#include "base/text.h"
#include "service/agent/scrubber.h"
#include "service/common/scrubbed_value.h"
#include "service/plugins/plugins.h"
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
  service::scrub_members(service::scrubber_of(agents, install.agent), object,
                         {"name", "version", "tools", "log", "reason", "from"});
  return object;
}

std::string installation_time() { return store::format_time(store::now()); }

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
  if (!only_new) {
    for (const auto& one : TRY(library.damaged())) {
      list.emplace_back(Value::Object{{"id", one.id}, {"damaged", one.why}});
    }
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
  for (const std::string& name : agent.empty() ? TRY(shared_.plugins.installs().agents()) : std::vector{agent}) {
    for (const auto& one : shared_.plugins.installs().damaged(name)) {
      list.emplace_back(Value::Object{{"id", one.id}, {"agent", name}, {"state", "damaged"}, {"reason", one.why}});
    }
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
  TRY(shared_.plugins.library().add(recipe, {.from = from, .time = installation_time()}));
  return Value(Plugins::entry_object(TRY(entry_of(recipe.id))));
}

Result<Value> PluginDesk::duplicate(const std::string& id, const std::string& name) {
  const plugin::Entry entry = TRY(entry_of(id));
  const plugin::Recipe copy = TRY(plugin::renamed(entry.recipe, name));
  plugin::Library& library = shared_.plugins.library();
  if (TRY(library.find(copy.id))) return fail({Code::kConflict, 0, cat({"there is a plugin ", copy.id, " already"})});
  TRY(library.add(copy, {.from = cat({"copy of ", id}), .time = installation_time()}));
  return Value(Plugins::entry_object(TRY(entry_of(copy.id))));
}

Result<plugin::Install> PluginDesk::install_for(const std::string& agent, const plugin::Recipe& recipe,
                                                const std::string& from, Wants wants, const Waiting& waiting) {
  Plugins::Wish wish{.agent = agent, .recipe = recipe, .from = from, .stop = waiting.stop};
  if (wants == Wants::kUpdate) wish.over = Plugins::Wish::Over::kEarlierOne;
  wish.set_up = waiting.set_up;
  if (waiting.on_need) wish.on_need = [&](Plugins::Wish::Need need) { waiting.on_need(agent, need); };
  if (waiting.on_step) {
    wish.on_step = [&](std::string_view step, std::string_view line) { waiting.on_step(agent, step, line); };
  }
  return shared_.plugins.install(wish);
}

Result<Value> PluginDesk::install(const std::string& agent, const plugin::Recipe& recipe, const std::string& from,
                                  const Waiting& waiting) {
  return Value(shown_install(shared_.agents, TRY(install_for(agent, recipe, from, Wants::kInstall, waiting))));
}

Result<Value> PluginDesk::install_kept(const std::string& agent, const std::string& id, const Waiting& waiting) {
  const plugin::Entry entry = TRY(entry_of(id));
  return install(agent, entry.recipe, entry.origin.from, waiting);
}

// One that fails keeps the others from nothing; the error names whose it was.
Result<std::vector<std::string>> PluginDesk::spread(const plugin::Recipe& recipe, const std::string& from,
                                                    const Waiting& waiting) {
  const std::string hash = plugin::content_hash(recipe);
  std::vector<std::string> done;
  std::vector<std::string> failed;
  std::optional<Error> error;
  for (const auto& install : TRY(installs_of(""))) {
    if (install->recipe.id != recipe.id) continue;
    const bool has_it = install->state == plugin::State::kReady && plugin::content_hash(install->recipe) == hash;
    const auto installed =
        has_it ? Result<plugin::Install>(*install) : install_for(install->agent, recipe, from, Wants::kUpdate, waiting);
    if (installed) {
      done.push_back(install->agent);
    } else {
      failed.push_back(cat({"agent ", install->agent, ": ", installed.error().message}));
      if (!error) error = installed.error();
    }
  }
  if (!error) return done;
  error->message = cat({join(failed, "; "), done.empty() ? "" : cat({"; done for ", join(done, ", ")})});
  return fail(*error);
}

Result<Value> PluginDesk::told(const std::string& id, const std::vector<std::string>& agents) {
  auto object = shown_entry(shared_.agents, TRY(entry_of(id)));
  object.emplace("agents", Value::List(agents.begin(), agents.end()));
  return Value(std::move(object));
}

// The library gets it with the first agent that has it.
Result<Value> PluginDesk::update(const std::string& id, const std::optional<plugin::Recipe>& recipe,
                                 const std::string& from, const Waiting& waiting) {
  const plugin::Entry entry = TRY(entry_of(id));
  if (!recipe) return told(id, TRY(spread(entry.recipe, entry.origin.from, waiting)));
  if (recipe->id != id) {
    return fail(Error::invalid(cat({from, " is plugin ", recipe->id, ": hutch plugin install takes it"})));
  }
  const auto agents = TRY(spread(*recipe, from, waiting));
  const auto expect_known = [](const plugin::Library::Added& added) {
    return added.before == 0 ? fail(service::removed_meanwhile()) : Status();
  };
  TRY(shared_.plugins.library().add(*recipe, {.from = from, .time = installation_time()}, expect_known));
  return told(id, agents);
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
  TRY(library.roll_back(id, wanted));
  const plugin::Entry rolled = TRY(entry_of(id));
  const auto spreaded = spread(rolled.recipe, rolled.origin.from, waiting);
  if (!spreaded) {
    TRY(library.undo_rollback(id));
    return fail(spreaded.error());
  }
  TRY(library.keep_rollback(id));
  return told(id, *spreaded);
}

// One that does not answer stops nothing: what is left of it is told.
Result<Value> PluginDesk::remove(const std::string& id, const std::string& agent) {
  TRY(plugin::check_id(id));
  Plugins& plugins = shared_.plugins;
  if (!agent.empty()) TRY(shared_.agents.show(agent));
  const std::vector<std::string> of = agent.empty() ? TRY(plugins.agents_of(id)) : std::vector{agent};
  const Plugins::Removed removed = plugins.uninstall_from(of, id);
  const bool from_library = agent.empty() && TRY(plugins.library().remove(id));
  if (removed.agents.empty() && removed.left.empty() && !from_library) {
    return fail(agent.empty() ? no_plugin(id) : Error::not_found(cat({"agent ", agent, " has no plugin ", id})));
  }
  if (!agent.empty() && !removed.left.empty()) {
    return fail({Code::kConflict, 0, cat({"agent ", agent, ": ", removed.left.front().second})});
  }
  Value::List left;
  for (const auto& [name, why] : removed.left) left.emplace_back(Value::Object{{"agent", name}, {"reason", why}});
  Value::Object told = {
      {"id", id}, {"agents", Value::List(removed.agents.begin(), removed.agents.end())}, {"library", from_library}};
  if (!left.empty()) told.emplace("left", std::move(left));
  return Value(std::move(told));
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
  TRY(shared_.plugins.set_value(agent, id, key, value));
  return Value(Value::Object{{"id", id}, {"agent", agent}, {"key", key}, {"value", value}});
}

}  // namespace hutch::server
