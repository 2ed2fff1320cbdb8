// The library, what agents have installed, and calls of plugins' tools.
#include "service/plugins.h"

#include <algorithm>

#include "base/text.h"
#include "plugin/commands.h"
#include "service/call_tool.h"
#include "service/plugin_installation.h"
#include "service/plugin_run.h"
#include "service/plugin_tools.h"
#include "service/scrubbed_value.h"
#include "tool/excerpt.h"
#include "tool/steps.h"

namespace hutch::service {

namespace {

using plugin::Install;
using plugin::State;
using tool::Envelope;
using tool::Value;

constexpr std::chrono::seconds kRepairPatience{120};
constexpr std::chrono::milliseconds kTurnSlice{100};

// Of an agent's own making as long as it may make any.
bool is_offered(const Install& install, const AgentSandbox& agent) {
  if (install.state != State::kReady) return false;
  return install.recipe.created_by != "agent" || agent.autonomous_exec().enabled;
}

// Its directory lies in the agent's home, where the agent may remove it.
bool has_lost_files(AgentSandbox& agent, const std::string& id, const std::stop_token& stop) {
  SandboxPlace place(agent, kRepairPatience, stop);
  const auto stat = tool::ask<wire::FileStat>(place, wire::StatFile{{agent.layout().home, cat({"plugins/", id})}});
  return !stat && stat.error().code == Code::kNotFound;
}

Plugins::Wish::By made_by(const plugin::Recipe& recipe) {
  return recipe.created_by == "agent" ? Plugins::Wish::By::kAgent : Plugins::Wish::By::kPerson;
}

// What a recipe needs of the host, and the line that gives it.
std::string need_text(const std::string& need, const std::string& agent) {
  if (!need.starts_with("path:")) return cat({"needs ", printable(need, 100), ": hutch share --help says how"});
  const std::string path = need.substr(5);
  return cat({"needs ", printable(path, 200), ": hutch share --agent ", agent, " ", shell_word(path)});
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
               }) {}

std::string Plugins::OfferedTool::name() const { return plugin_tool_name(install->recipe, tool()); }

std::shared_ptr<std::timed_mutex> Plugins::work_of(const std::string& agent) {
  const std::scoped_lock lock(works_mutex_);
  auto& work = works_[agent];
  if (!work) work = std::make_shared<std::timed_mutex>();
  return work;
}

void Plugins::repair() {
  const auto say = [&](const std::string& what, const Error& error) {
    if (tell_) tell_(cat({what, ": ", error.message}));
  };
  if (const Status repaired = library_.repair(); !repaired) say("the library of plugins", repaired.error());
  const auto agents = installs_.agents();
  if (!agents) return say("the plugins that are installed", agents.error());
  for (const std::string& agent : *agents) {
    if (const auto shown = agents_.show(agent); !shown) {
      // Removed, and the daemon was killed before this.
      if (shown.error().code == Code::kNotFound) forget(agent);
      continue;
    }
    const auto work = work_of(agent);
    const std::scoped_lock lock(*work);
    const auto installs = installs_.of(agent);
    if (!installs) {
      say(cat({"the plugins of ", agent}), installs.error());
      continue;
    }
    for (const auto& install : *installs) {
      if (install->state == State::kReady) continue;
      const std::string what = cat({"plugin ", install->recipe.id, " of ", agent, ", ", name_of(install->state)});
      const Status repaired = repair_one(install);
      if (!repaired) say(what, repaired.error());
      if (repaired && tell_) tell_(cat({what, ": ", install->state == State::kRemoving ? "removed" : "undone"}));
      if (repaired) agents_.tell_change(agent, kToolsChanged);
    }
  }
}

Status Plugins::repair_one(const std::shared_ptr<const Install>& install) {
  const auto agent = TRY(agents_.sandbox(install->agent));
  SandboxPlace place(*agent, kRepairPatience, {});
  return install->state == State::kRemoving ? finish_removal(*this, place, *install)
                                            : undo_install(*this, place, *install);
}

Status Plugins::check(const Wish& wish, const AgentSandbox& agent) {
  const plugin::Recipe& recipe = wish.recipe;
  for (const plugin::Tool& one : recipe.tools) {
    const std::string name = plugin_tool_name(recipe, one);
    if (tool::find_tool(name) != nullptr) return fail(Error::invalid(cat({name, " is a tool of hutch's own"})));
  }
  const auto shown = TRY(agents_.show(wish.agent));
  if (needs_own_sandbox(recipe, shown.record)) TRY(agent.check_plugin_sandbox());
  if (recipe.inference && !shown.record.inference && wish.on_step) {
    wish.on_step("validate", cat({"it asks for a model, which this agent may not have: hutch agent set ", wish.agent,
                                  " inference=true"}));
  }
  for (const std::string& need : recipe.needs) {
    if (wish.on_step) wish.on_step("validate", need_text(need, wish.agent));
  }
  return {};
}

Result<Install> Plugins::install(const Wish& wish) {
  const auto agent = TRY(agents_.sandbox(wish.agent));
  const auto work = work_of(wish.agent);
  std::unique_lock turn(*work, std::defer_lock);
  while (!turn.try_lock_for(kTurnSlice)) {
    if (wish.stop.stop_requested()) return fail({Code::kTimeout, 0, "it was cancelled"});
  }
  if (wish.admit) TRY(wish.admit());
  PluginInstallation installation(*this, *agent, wish);
  Install done = TRY(installation.run());
  agents_.tell_change(wish.agent, kToolsChanged);
  if (wish.by == Wish::By::kAgent) agents_.tell_change(wish.agent, kPluginMade, wish.recipe.id);
  return done;
}

Result<bool> Plugins::uninstall(const std::string& agent_name, const std::string& id) {
  TRY(plugin::check_id(id));
  const auto agent = TRY(agents_.sandbox(agent_name));
  const auto work = work_of(agent_name);
  const std::scoped_lock lock(*work);
  const auto install = TRY(installs_.find(agent_name, id));
  if (!install) return false;
  Install leaving = *install;
  leaving.state = State::kRemoving;
  TRY(installs_.write(leaving));
  agents_.tell_change(agent_name, kToolsChanged);
  agent->end_plugin_sandbox(id);
  SandboxPlace place(*agent, kRepairPatience, {});
  TRY_CTX(finish_removal(*this, place, leaving), "its tools are gone, its files go with the daemon's next start");
  return true;
}

void Plugins::forget(const std::string& agent) {
  events_.forget(agent);
  hearing_.forget(agent);
  {
    const std::scoped_lock lock(beside_mutex_);
    beside_.erase(agent);
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

// `more` are variables of its.
Envelope Plugins::run(AgentSandbox& agent, const OfferedTool& offered, const ToolCall& call,
                      std::vector<std::string> more) {
  const plugin::Tool& wanted = offered.tool();
  const plugin::Recipe& recipe = offered.install->recipe;
  auto variables = plugin_variables(wanted, call.arguments);
  if (!variables) return std::move(variables).error();
  const auto failed = [](const Error& error) {
    return tool::failed("Failed to run the plugin's tool", error, tool::Retry::kYes);
  };
  const auto shown = agents_.show(agent.record().name);
  if (!shown) return failed(shown.error());
  const std::string directory = plugin_directory(agent.layout(), recipe.id);
  auto environment = plugin_environment(agent, recipe, directory);
  if (!environment) return failed(environment.error());
  std::ranges::move(*variables, std::back_inserter(*environment));
  std::ranges::move(more, std::back_inserter(*environment));
  const auto timeout = wanted.timeout.value_or(
      std::clamp(tool_settings(agent).command_timeout, std::chrono::seconds(1), plugin::kToolTimeoutMax));
  const tool::Command command{.arguments = {"/bin/sh", "-c", wanted.run},
                              .cwd = directory,
                              .environment = std::move(*environment),
                              .timeout = timeout,
                              .on_output = call.on_output,
                              .stop = call.stop};
  const auto start = [&] {
    return needs_own_sandbox(recipe, shown->record) ? run_apart(agent, rights_of(recipe), command)
                                                    : beside(agent, recipe, command);
  };
  auto end = start();
  if (!end && has_lost_files(agent, recipe.id, call.stop)) {
    const auto known = library_.find(recipe.id);
    const bool same = known && *known && plugin::content_hash((*known)->recipe) == plugin::content_hash(recipe);
    const auto again =
        same
            ? install({.agent = agent.record().name,
                       .recipe = recipe,
                       .from = offered.install->from,
                       .stop = call.stop,
                       .by = made_by(recipe)})
            : fail(Error::unsupported(cat({"the library has another version of it: hutch plugin update ", recipe.id})));
    if (!again) return failed(Error(again.error()).with_context("its files are gone, and installing it again"));
    end = start();
  }
  if (!end) return failed(end.error());
  Envelope envelope = tool::ended(*end, timeout,
                                  {{"stdout", tool::excerpt(end->output, tool::kOutputCharacters)},
                                   {"stderr", tool::excerpt(end->error, tool::kErrorCharacters)},
                                   {"exit_code", end->exit_code},
                                   {"cwd", directory}});
  if (end->timed_out) {
    envelope.message = cat({"Timed out after ", std::to_string(timeout.count()),
                            " s and was ended with every process it had started. What it printed until then is in "
                            "this answer. The plugin's recipe can give the tool a longer `timeout`."});
  }
  return envelope;
}

Status Plugins::forget_values(const std::string& agent, const std::string& id) {
  return agents_.host_data().forget_below(agent, values_of(id));
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
          {"name", install.recipe.name},
          {"version", install.recipe.version},
          {"state", plugin::name_of(install.state)},
          {"steps", install.steps},
          {"from", install.from},
          {"installed", install.time},
          {"hash", plugin::content_hash(install.recipe)},
          {"tools", std::move(tools)},
          {"log", std::move(log)}};
}

}  // namespace hutch::service
