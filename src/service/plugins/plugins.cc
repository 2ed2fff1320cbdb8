// The library, what agents have installed, and calls of plugins' tools.
#include "service/plugins/plugins.h"

#include <algorithm>

#include "base/text.h"
#include "plugin/commands.h"
#include "service/agent/system.h"
#include "service/common/scrubbed_value.h"
#include "service/plugins/call_tool.h"
#include "service/plugins/installation.h"
#include "service/plugins/needs.h"
#include "service/plugins/run.h"
#include "service/plugins/tools.h"
#include "tool/excerpt.h"
#include "tool/steps.h"

namespace hutch::service {

namespace {

using plugin::DamagedInstall;
using plugin::Install;
using plugin::State;
using tool::Envelope;
using tool::Value;

constexpr std::chrono::seconds kRepairPatience{120};
// For another installation's end: of its packages (kPersonInstallTimeout) and its set-up.
constexpr std::chrono::seconds kInstallPatience{1'500};

// Of an agent's own making as long as it may make any.
bool is_offered(const Install& install, const AgentSandbox& agent) {
  if (install.state != State::kReady) return false;
  return install.recipe.created_by != "agent" || agent.autonomous_exec().enabled;
}

// With the agent's turn, so that no update is under way.
bool forget_earlier_ones(Plugins& plugins, AgentSandbox& agent) {
  const auto installs = plugins.installs().of(agent.record().name);
  if (!installs) return true;
  SandboxPlace place(agent, kRepairPatience, {});
  return std::ranges::all_of(*installs, [&](const auto& install) {
    return plugin::is_half(*install) || forget_earlier(place, install->recipe.id).has_value();
  });
}

}  // namespace

Plugins::Plugins(AgentService& agents, tool::Limiters& limiters, Tell tell)
    : agents_(agents),
      limiters_(limiters),
      tell_(std::move(tell)),
      library_(agents.dirs().data + "/plugins"),
      installs_(agents.dirs().data + "/agents"),
      hearing_([this](const PluginEvents::Due& due) { hear(due); },
               [this](const PluginEvents::Due& due, std::string_view why) {
                 const std::string said = cat({"plugin ", due.plugin, " does not hear of it: ", why});
                 if (const auto agent = agents_.sandbox(due.agent)) {
                   (*agent)->used({.service = "events", .what = due.event.type, .outcome = said});
                 }
               }),
      repairs_([this](const std::string& agent, const std::stop_token& stop) { return repair_later(agent, stop); }) {}

std::string OfferedPluginTool::name() const { return plugin_tool_name(install->recipe, tool()); }

void Plugins::say(const std::string& what, const Error& error) const {
  if (tell_) tell_(cat({what, ": ", error.message}));
}

void Plugins::repair() {
  if (const Status repaired = library_.repair(); !repaired) say("the library of plugins", repaired.error());
  const auto agents = installs_.agents();
  if (!agents) return say("the plugins that are installed", agents.error());
  for (const std::string& agent : *agents) {
    if (const auto shown = agents_.show(agent); !shown) {
      // Removed, and the daemon was killed before this.
      if (shown.error().code == Code::kNotFound) forget(agent);
      continue;
    }
    (void)repair_agent(agent, {});
    // What is left, and what is nobody's: once the sandbox runs.
    repairs_.add(agent);
  }
  finish_rollbacks();
}

// Those that a killed daemon was spreading: every agent gets the version, or the library's is the one before again.
void Plugins::finish_rollbacks() {
  const auto ids = library_.rollbacks();
  if (!ids) return say("the library of plugins", ids.error());
  for (const std::string& id : *ids) {
    const Status spread = spread_kept(id);
    const Status over = spread ? library_.keep_rollback(id) : library_.undo_rollback(id);
    if (!spread) say(cat({"the rollback of plugin ", id, " is undone"}), spread.error());
    if (!over) say(cat({"the rollback of plugin ", id}), over.error());
    if (spread && over && tell_) tell_(cat({"the rollback of plugin ", id, " is finished"}));
  }
}

Status Plugins::spread_kept(const std::string& id) {
  const auto entry = TRY(library_.find(id));
  if (!entry) return {};
  for (const std::string& agent : TRY(agents_of(id))) {
    const auto install = TRY(installs_.find(agent, id));
    if (!install || install->recipe.json == entry->recipe.json) continue;
    TRY_CTX(this->install({.agent = agent, .recipe = entry->recipe, .from = entry->origin.from}),
            cat({"agent ", agent}));
  }
  return {};
}

// No sandbox is started for it over and over.
bool Plugins::repair_later(const std::string& agent, const std::stop_token& stop) {
  const auto sandbox = agents_.sandbox(agent);
  if (!sandbox) return sandbox.error().code == Code::kNotFound;
  if ((*sandbox)->running() == nullptr || !repair_agent(agent, stop)) return false;
  const auto turn = turns_.take(agent, kRepairPatience, stop);
  return turn && forget_earlier_ones(*this, **sandbox);
}

bool Plugins::repair_agent(const std::string& agent, const std::stop_token& stop) {
  const auto turn = turns_.take(agent, kRepairPatience, stop);
  if (!turn) return false;
  const auto installs = installs_.of(agent);
  if (!installs) {
    say(cat({"the plugins of ", agent}), installs.error());
    return true;
  }
  bool is_whole = true;
  for (const DamagedInstall& one : installs_.damaged(agent)) {
    if (tell_) tell_(cat({"plugin ", printable(one.id, 64), " of ", agent, ": its record cannot be read: ", one.why}));
  }
  for (const auto& found : *installs) {
    const std::string& id = found->recipe.id;
    const auto use = uses_.begin(agent, id, stop);
    // Whoever removes it does what is to be done.
    if (!use) continue;
    const auto install = installs_.find(agent, id);
    if (!install || !*install || !plugin::is_half(**install)) continue;
    const std::string what = cat({"plugin ", id, " of ", agent, ", ", name_of((*install)->state)});
    const Status repaired = repair_one(**install, (*use)->stop());
    is_whole = is_whole && repaired;
    if (!repaired) say(what, repaired.error());
    if (repaired && tell_) tell_(cat({what, ": ", (*install)->state == State::kRemoving ? "removed" : "undone"}));
    if (repaired) agents_.tell_change(agent, kToolsChanged);
  }
  return is_whole;
}

Status Plugins::repair_one(const Install& install, const std::stop_token& stop) {
  const auto agent = TRY(agents_.sandbox(install.agent));
  SandboxPlace place(*agent, kRepairPatience, stop);
  return install.state == State::kRemoving ? finish_removal(*this, place, install)
                                           : undo_install(*this, place, install);
}

Status Plugins::check(const Wish& wish, const AgentSandbox& agent) {
  const plugin::Recipe& recipe = wish.recipe;
  for (const plugin::Tool& one : recipe.tools) {
    const std::string name = plugin_tool_name(recipe, one);
    if (tool::find_tool(name) != nullptr) return fail(Error::invalid(cat({name, " is a tool of hutch's own"})));
  }
  const auto shown = TRY(agents_.show(wish.agent));
  if (needs_own_sandbox(recipe, shown.record)) {
    TRY(agent.check_plugin_sandbox());
    const auto before = TRY(installs_.find(wish.agent, recipe.id));
    const bool was_wider = before && !needs_own_sandbox(before->recipe, shown.record);
    if (was_wider && wish.on_step) {
      wish.on_step("validate", cat({"the version before ran in the agent's own sandbox: what it left running goes on "
                                    "there, with all that the agent may, until hutch agent stop ",
                                    wish.agent}));
    }
  }
  if (recipe.inference && !shown.record.inference && wish.on_step) {
    wish.on_step("validate", cat({"it asks for a model, which this agent may not have: hutch agent set ", wish.agent,
                                  " inference=true"}));
  }
  for (const std::string& line : need_lines(recipe, shown.record)) {
    if (wish.on_step) wish.on_step("validate", line);
  }
  return {};
}

Result<Install> Plugins::install(const Wish& wish) {
  const auto agent = TRY(agents_.sandbox(wish.agent));
  // Before the wait: what was wished before a removal does not come after it.
  const auto use = TRY(uses_.begin(wish.agent, wish.recipe.id, wish.stop));
  const std::stop_token stop = use->stop();
  const auto turn = turns_.take(wish.agent, kInstallPatience, stop);
  if (!turn) return fail(use->is_removed() ? removed_meanwhile() : turn.error());
  if (wish.admit) TRY(wish.admit());
  if (wish.over == Wish::Over::kEarlierOne && !has(wish.agent, wish.recipe.id)) return fail(removed_meanwhile());
  auto done = install_once(*agent, wish, *use);
  if (!done) {
    const auto left = installs_.find(wish.agent, wish.recipe.id);
    if (left && *left && plugin::is_half(**left)) repairs_.add(wish.agent);
    return done;
  }
  agents_.tell_change(wish.agent, kToolsChanged);
  if (wish.by == Wish::By::kAgent) agents_.tell_change(wish.agent, kPluginMade, wish.recipe.id);
  return done;
}

// A second time where the agent gets a system of its own meanwhile.
Result<Install> Plugins::install_once(AgentSandbox& agent, const Wish& wish, const PluginUses::Use& use) {
  PluginInstallation first(*this, agent, wish, use);
  auto done = first.run();
  if (done || !first.need()) return done;
  if (first.need() == Wish::Need::kSystem && gets_system_by_itself(agents_, wish.agent)) {
    const auto tell = [&](const std::string& line) {
      if (wish.on_step) wish.on_step("packages", line);
    };
    const auto with_system = TRY_CTX(give_system(agents_, wish.agent, SystemBy::kSetting, tell, use.stop()),
                                     "give the agent a system of its own");
    PluginInstallation second(*this, *with_system, wish, use);
    done = second.run();
    if (!done && second.need() && wish.on_need) wish.on_need(*second.need());
    return done;
  }
  if (wish.on_need) wish.on_need(*first.need());
  return done;
}

// What is at work ends by itself: its agent's sandbox has, and what it would write is refused.
void Plugins::forget(const std::string& agent) {
  for (const auto& [name, id] : uses_.at_work(agent)) (void)uses_.close(name, id);
  events_.forget(agent);
  hearing_.forget(agent);
  {
    const std::scoped_lock lock(beside_mutex_);
    beside_.erase(agent);
  }
  {
    const std::scoped_lock lock(needs_mutex_);
    std::erase_if(needs_told_, [&](const auto& one) { return one.first.first == agent; });
  }
  const Status forgotten = installs_.forget(agent);
  if (!forgotten && tell_) tell_(cat({"the plugins of ", agent, ": ", forgotten.error().message}));
}

std::vector<Plugins::OfferedTool> Plugins::offered(const AgentSandbox& agent) {
  std::vector<OfferedTool> tools;
  const auto installs = installs_.of(agent.record().name);
  if (!installs) return tools;
  for (const auto& install : *installs) {
    if (!is_offered(*install, agent)) continue;
    for (std::size_t i = 0; i < install->recipe.tools.size(); ++i) tools.push_back({install, i});
  }
  return tools;
}

std::optional<Plugins::OfferedTool> Plugins::find_tool(const AgentSandbox& agent, const std::string& name) {
  auto tools = offered(agent);
  const auto found = std::ranges::find_if(tools, [&](const OfferedTool& one) { return one.name() == name; });
  return found == tools.end() ? std::nullopt : std::optional(std::move(*found));
}

Envelope Plugins::call(AgentSandbox& agent, const OfferedTool& offered, const ToolCall& call) {
  return run(agent, offered, call, {});
}

// Before and after: the sandbox may be one that this very command starts.
Result<tool::CommandEnd> Plugins::beside(AgentSandbox& agent, const plugin::Recipe& recipe,
                                         const tool::Command& command) {
  note_beside(agent, recipe);
  auto end = run_beside(agent, command);
  note_beside(agent, recipe);
  return end;
}

void Plugins::note_beside(const AgentSandbox& agent, const plugin::Recipe& recipe) {
  if (recipe.inference) return;
  const auto running = agent.running();
  const std::scoped_lock lock(beside_mutex_);
  if (running) beside_.insert_or_assign(agent.record().name, running);
}

bool Plugins::has_run_without_model(const AgentSandbox& agent) const {
  const auto running = agent.running();
  const std::scoped_lock lock(beside_mutex_);
  const auto noted = beside_.find(agent.record().name);
  return running && noted != beside_.end() && noted->second.lock() == running;
}

Value Plugins::event_value(const HostEvent& event) {
  auto payload = tool::parse_value(event.payload, tool::kArgumentsBytesMax);
  return Value(Value::Object{{"number", event.number},
                             {"type", event.type},
                             {"payload", payload ? std::move(*payload) : Value()},
                             {"time", event.time}});
}

Value Plugins::shown_event(AgentSandbox& agent, const HostEvent& event) {
  return scrubbed(*agent.secrets().scrubber(), event_value(event));
}

void Plugins::emit(AgentSandbox& agent, const std::string& plugin, std::string type, std::string payload) {
  const std::string& name = agent.record().name;
  const HostEvent event = events_.emit(name, std::move(type), std::move(payload));
  agents_.tell_change(name, kEmitted, tool::json_text(shown_event(agent, event)));
  const auto installs = installs_.of(name);
  if (!installs) return;
  for (const auto& install : *installs) {
    const plugin::Recipe& recipe = install->recipe;
    const auto& types = recipe.events.subscribe;
    const bool hears = !recipe.events.tool.empty() && std::ranges::find(types, event.type) != types.end();
    if (hears && recipe.id != plugin && is_offered(*install, agent)) {
      hearing_.add({.agent = name, .plugin = recipe.id, .tool = recipe.events.tool, .event = event});
    }
  }
}

void Plugins::hear(const PluginEvents::Due& due) {
  const auto agent = agents_.sandbox(due.agent);
  const auto tool = agent ? find_tool(**agent, cat({due.plugin, "_", due.tool})) : std::nullopt;
  if (!tool) return;
  ToolCall call{.name = tool->name(), .arguments = {}};
  std::vector<std::string> more = {cat({"HUTCH_EVENT=", due.event.type})};
  const auto& parameters = tool->tool().parameters;
  const auto declared = std::ranges::find(parameters, std::string_view("payload"), &plugin::Parameter::name);
  if (declared == parameters.end()) {
    more.push_back(cat({"PARAM_PAYLOAD=", due.event.payload}));
  } else {
    auto value = tool::parse_value(due.event.payload, tool::kArgumentsBytesMax);
    const bool is_text = declared->kind == plugin::Kind::kString || !value;
    Value payload = is_text ? Value(due.event.payload) : std::move(*value);
    call.arguments = tool::json_text(Value(Value::Object{{"payload", std::move(payload)}}));
  }
  const Envelope told = run(**agent, *tool, call, std::move(more));
  (*agent)->used({.service = "events",
                  .what = due.event.type,
                  .outcome = cat({call.name, ": ", told.ok ? std::string_view("called") : told.message})});
}

Value::Object Plugins::entry_object(const plugin::Entry& entry) {
  const plugin::Recipe& recipe = entry.recipe;
  Value::List tools;
  for (const plugin::Tool& one : recipe.tools) {
    tools.emplace_back(Value::Object{{"name", plugin_tool_name(recipe, one)}, {"description", one.description}});
  }
  return {{"id", entry.id},
          {"name", recipe.name},
          {"description", recipe.description},
          {"version", recipe.version},
          {"number", entry.current},
          {"numbers", Value::List(entry.versions.begin(), entry.versions.end())},
          {"from", entry.origin.from},
          {"added", entry.origin.time},
          {"new", entry.origin.is_new},
          {"created_by", recipe.created_by},
          {"tools", std::move(tools)}};
}

Value::Object Plugins::install_object(const Install& install) {
  Value::List log;
  for (const plugin::StepLog& step : install.log) {
    log.emplace_back(Value::Object{{"step", step.step}, {"log", step.log}});
  }
  Value::List tools;
  for (const plugin::Tool& one : install.recipe.tools) tools.emplace_back(plugin_tool_name(install.recipe, one));
  return {{"id", install.recipe.id},
          {"agent", install.agent},
          {"reason", install.reason},
          {"name", install.recipe.name},
          {"version", install.recipe.version},
          {"state", plugin::shown_state(install)},
          {"steps", install.steps},
          {"from", install.from},
          {"installed", install.time},
          {"hash", plugin::content_hash(install.recipe)},
          {"tools", std::move(tools)},
          {"log", std::move(log)}};
}

}  // namespace hutch::service
