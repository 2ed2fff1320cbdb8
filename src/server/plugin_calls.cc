// Calls about plugins: the library, what agents have installed, and skills.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "server/session.h"
#include "service/plugins.h"
#include "service/skills.h"
#include "store/spool.h"

namespace hutch::server {

namespace {

using service::Plugins;

Result<plugin::Recipe> recipe_in(const CallReader& call) {
  const std::string json = TRY(call.bytes("recipe"));
  return plugin::parse_recipe(json);
}

Error no_plugin(const std::string& id) {
  return Error::not_found(
      cat({"there is no plugin ", printable(id, 64), " in the library: hutch plugin list --library shows them"}));
}

Result<plugin::Entry> entry_of(Session& session, const std::string& id) {
  auto found = TRY(session.shared().plugins.library().find(id));
  if (!found) return fail(no_plugin(id));
  return std::move(*found);
}

Result<std::string> agent_of(Session& session, const CallReader& call) {
  std::string name = TRY(call.optional_text("agent"));
  service::AgentService& agents = session.shared().agents;
  if (name.empty()) {
    const std::string directory = TRY(call.text("directory"));
    return TRY(agents.of_directory(directory)).name;
  }
  TRY(agents.show(name));
  return name;
}

// Whoever is named, else all that may have some.
Result<std::vector<std::shared_ptr<const plugin::Install>>> installs_of(Session& session, const std::string& agent) {
  plugin::Installs& installs = session.shared().plugins.installs();
  if (!agent.empty()) {
    TRY(session.shared().agents.show(agent));
    return installs.of(agent);
  }
  std::vector<std::shared_ptr<const plugin::Install>> all;
  for (const std::string& name : TRY(installs.agents())) {
    for (auto& install : TRY(installs.of(name))) all.push_back(std::move(install));
  }
  return all;
}

Result<Value> list(Session& session, const CallReader& call) {
  Value::List list;
  const std::string agent = TRY(call.optional_text("agent"));
  for (const auto& install : TRY(installs_of(session, agent))) {
    auto object = Plugins::install_object(*install);
    object.erase("log");
    list.emplace_back(std::move(object));
  }
  return Value(std::move(list));
}

// With `new` those that agents made, which are seen by that.
Result<Value> library(Session& session, const CallReader& call) {
  const bool only_new = TRY(call.truth("new"));
  plugin::Library& library = session.shared().plugins.library();
  Value::List list;
  for (const plugin::Entry& entry : TRY(library.list())) {
    if (!only_new || entry.origin.is_new) list.emplace_back(Plugins::entry_object(entry));
  }
  if (only_new) TRY(library.mark_seen());
  return Value(std::move(list));
}

Result<Value> show(Session& session, const CallReader& call) {
  const std::string id = TRY(call.text("id"));
  const std::string agent = TRY(call.optional_text("agent"));
  TRY(plugin::check_id(id));
  Value::List installs;
  for (const auto& install : TRY(installs_of(session, agent))) {
    if (install->recipe.id == id) installs.emplace_back(Plugins::install_object(*install));
  }
  const auto entry = TRY(session.shared().plugins.library().find(id));
  if (!entry && installs.empty()) return fail(no_plugin(id));
  Value::Object object = entry ? Plugins::entry_object(*entry) : Value::Object{{"id", id}};
  object.emplace("installed", std::move(installs));
  return Value(std::move(object));
}

Result<Value> import(Session& session, const CallReader& call) {
  const plugin::Recipe recipe = TRY(recipe_in(call));
  const std::string from = TRY(call.text("from"));
  TRY(session.shared().plugins.library().add(recipe, {.from = from, .time = store::format_time(store::now())}));
  return Value(Plugins::entry_object(TRY(entry_of(session, recipe.id))));
}

Result<Value> export_recipe(Session& session, const CallReader& call) {
  const std::string id = TRY(call.text("id"));
  const auto number = static_cast<int>(TRY(call.number("number", 0)));
  const plugin::Entry entry = TRY(entry_of(session, id));
  const plugin::Recipe recipe =
      number == 0 ? entry.recipe : TRY(session.shared().plugins.library().version(id, number));
  return Value(Value::Object{{"id", id}, {"recipe", plugin::exported(recipe)}});
}

Result<Value> duplicate(Session& session, const CallReader& call) {
  const std::string id = TRY(call.text("id"));
  const std::string name = TRY(call.text("name"));
  const plugin::Entry entry = TRY(entry_of(session, id));
  const plugin::Recipe copy = TRY(plugin::renamed(entry.recipe, name));
  plugin::Library& library = session.shared().plugins.library();
  if (TRY(library.find(copy.id))) return fail({Code::kConflict, 0, cat({"there is a plugin ", copy.id, " already"})});
  TRY(library.add(copy, {.from = cat({"copy of ", id}), .time = store::format_time(store::now())}));
  return Value(Plugins::entry_object(TRY(entry_of(session, copy.id))));
}

// What its steps say goes to the client; its end is the installation's.
Result<plugin::Install> install_for(Session& session, const std::string& agent, const plugin::Recipe& recipe,
                                    const std::string& from) {
  Plugins::Wish wish{.agent = agent, .recipe = recipe, .from = from};
  std::stop_source stop;
  wish.stop = stop.get_token();
  wish.on_step = [&](std::string_view step, std::string_view line) {
    const Value event(Value::Object{{"agent", agent}, {"step", step}, {"line", line}});
    if (!session.tell(event)) stop.request_stop();
  };
  return session.shared().plugins.install(wish);
}

Result<Value> install(Session& session, const CallReader& call) {
  const std::string agent = TRY(agent_of(session, call));
  const std::string id = TRY(call.optional_text("id"));
  if (!id.empty()) {
    const plugin::Entry entry = TRY(entry_of(session, id));
    return Value(Plugins::install_object(TRY(install_for(session, agent, entry.recipe, entry.origin.from))));
  }
  const plugin::Recipe recipe = TRY(recipe_in(call));
  const std::string from = TRY(call.text("from"));
  return Value(Plugins::install_object(TRY(install_for(session, agent, recipe, from))));
}

// Every agent that has it gets the library's current version.
Result<Value> spread(Session& session, const std::string& id) {
  const plugin::Entry entry = TRY(entry_of(session, id));
  const std::string hash = plugin::content_hash(entry.recipe);
  Value::List done;
  for (const auto& install : TRY(installs_of(session, ""))) {
    if (install->recipe.id != id) continue;
    if (plugin::content_hash(install->recipe) != hash) {
      TRY_CTX(install_for(session, install->agent, entry.recipe, entry.origin.from), cat({"agent ", install->agent}));
    }
    done.emplace_back(install->agent);
  }
  auto object = Plugins::entry_object(entry);
  object.emplace("agents", std::move(done));
  return Value(std::move(object));
}

Result<Value> update(Session& session, const CallReader& call) {
  const std::string id = TRY(call.text("id"));
  const std::string from = TRY(call.optional_text("from"));
  if (from.empty()) return spread(session, id);
  const plugin::Recipe recipe = TRY(recipe_in(call));
  TRY(entry_of(session, id));
  if (recipe.id != id) {
    return fail(Error::invalid(cat({from, " is plugin ", recipe.id, ": hutch plugin install takes it"})));
  }
  plugin::Library& library = session.shared().plugins.library();
  const auto added = TRY(library.add(recipe, {.from = from, .time = store::format_time(store::now())}));
  auto spreaded = spread(session, id);
  if (!spreaded) TRY(library.take_back(id, added));
  return spreaded;
}

Result<Value> rollback(Session& session, const CallReader& call) {
  const std::string id = TRY(call.text("id"));
  auto number = static_cast<int>(TRY(call.number("number", 0)));
  const plugin::Entry entry = TRY(entry_of(session, id));
  if (number == 0) {
    const auto current = std::ranges::find(entry.versions, entry.current);
    if (current == entry.versions.begin() || current == entry.versions.end()) {
      return fail(Error::invalid(cat({"plugin ", id, " has no version before ", std::to_string(entry.current)})));
    }
    number = *(current - 1);
  }
  plugin::Library& library = session.shared().plugins.library();
  TRY(library.make_current(id, number));
  auto spreaded = spread(session, id);
  if (!spreaded) TRY(library.make_current(id, entry.current));
  return spreaded;
}

// Of one agent, or of all and the library.
Result<Value> remove(Session& session, const CallReader& call) {
  const std::string id = TRY(call.text("id"));
  const std::string agent = TRY(call.optional_text("agent"));
  TRY(plugin::check_id(id));
  Plugins& plugins = session.shared().plugins;
  Value::List agents;
  for (const auto& install : TRY(installs_of(session, agent))) {
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

constexpr std::array kVerbs = {
    Verb{"plugin.list", list},       Verb{"plugin.library", library},      Verb{"plugin.show", show},
    Verb{"plugin.import", import},   Verb{"plugin.export", export_recipe}, Verb{"plugin.duplicate", duplicate},
    Verb{"plugin.install", install}, Verb{"plugin.update", update},        Verb{"plugin.rollback", rollback},
    Verb{"plugin.remove", remove},   Verb{"skill.list", skills},           Verb{"skill.switch", switch_skill}};

}  // namespace

std::span<const Verb> plugin_verbs() { return kVerbs; }

}  // namespace hutch::server
