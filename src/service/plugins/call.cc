// Calls of plugins' tools.
#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "plugin/recipe.h"
#include "service/plugins/call_tool.h"
#include "service/plugins/installation.h"
#include "service/plugins/needs.h"
#include "service/plugins/plugins.h"
#include "service/plugins/run.h"
#include "service/plugins/tool_description.h"
#include "service/plugins/tools.h"
#include "sys/process/host_info.h"
#include "tool/excerpt.h"
#include "tool/steps.h"

namespace hutch::service {

namespace {

using tool::Envelope;

constexpr std::chrono::seconds kLookPatience{120};
constexpr std::chrono::seconds kProbeTimeout{10};

// Its directory lies in the agent's home, where the agent may remove it.
bool has_lost_files(AgentSandbox& agent, const std::string& id, const std::stop_token& stop) {
  SandboxPlace place(agent, kLookPatience, stop);
  const auto stat = tool::ask<wire::FileStat>(place, wire::StatFile{{agent.layout().home, cat({"plugins/", id})}});
  return !stat && stat.error().code == Code::kNotFound;
}

Plugins::Wish::By creator_of(const plugin::Recipe& recipe) {
  return recipe.created_by == "agent" ? Plugins::Wish::By::kAgent : Plugins::Wish::By::kPerson;
}

Envelope failed(const Error& error) {
  return tool::failed("Failed to run the plugin's tool", error, tool::Retry::kYes);
}

constexpr std::string_view kChanged = "was removed or changed meanwhile";

Envelope gone(const std::string& name) {
  return tool::failure(tool::Kind::kToolNotFound, cat({"The plugin of ", name, " ", kChanged, "."}));
}

Envelope ended(const tool::CommandEnd& end, const tool::Command& command) {
  const auto timeout = std::chrono::duration_cast<std::chrono::seconds>(command.timeout);
  Envelope envelope = tool::ended(end, timeout,
                                  {{"stdout", tool::excerpt(end.output, tool::kOutputCharacters)},
                                   {"stderr", tool::excerpt(end.error, tool::kErrorCharacters)},
                                   {"exit_code", end.exit_code},
                                   {"cwd", command.cwd}});
  if (end.timed_out) {
    envelope.message = cat({"Timed out after ", std::to_string(timeout.count()),
                            " s and was ended with every process it had started. What it printed until then is in "
                            "this answer. The plugin's recipe can give the tool a longer `timeout`."});
  }
  return envelope;
}

}  // namespace

// It was found before the call had begun.
bool Plugins::is_still(const OfferedTool& offered) {
  const auto now = installs_.find(offered.install->agent, offered.install->recipe.id);
  return now && *now && (*now)->state == plugin::State::kReady && (*now)->recipe.json == offered.install->recipe.json;
}

// An update that comes after the look ends the sandbox that was made for the earlier recipe, and this with it.
Result<tool::CommandEnd> Plugins::start(AgentSandbox& agent, const OfferedTool& offered, const tool::Command& command) {
  const plugin::Recipe& recipe = offered.install->recipe;
  const auto shown = TRY(agents_.show(agent.record().name));
  if (!needs_own_sandbox(recipe, shown.record)) return beside(agent, recipe, command);
  const auto sandbox = TRY(agent.plugin_sandbox(rights_of(recipe)));
  if (!is_still(offered)) return fail(Error::not_found(std::string(kChanged)));
  return run_in(agent, *sandbox, command);
}

// The files of a plugin that the agent has removed are made again, where the library has the same still.
Result<tool::CommandEnd> Plugins::run_again(AgentSandbox& agent, const OfferedTool& offered,
                                            const tool::Command& command) {
  const plugin::Recipe& recipe = offered.install->recipe;
  const auto known = library_.find(recipe.id);
  const bool same = known && *known && plugin::content_hash((*known)->recipe) == plugin::content_hash(recipe);
  const auto again =
      same ? install({.agent = agent.record().name,
                      .recipe = recipe,
                      .from = offered.install->from,
                      .stop = command.stop,
                      .by = creator_of(recipe)})
           : fail(Error::unsupported(cat({"the library has another version of it: hutch plugin update ", recipe.id})));
  if (!again) return fail(Error(again.error()).with_context("its files are gone, and installing it again"));
  return start(agent, offered, command);
}

// With the first call after a start or an installation: the person finds the lines in the record, whoever called hears
// what is absent.
std::vector<std::string> Plugins::tell_needs(AgentSandbox& agent, const OfferedTool& offered,
                                             const std::stop_token& stop) {
  const plugin::Recipe& recipe = offered.install->recipe;
  const auto running = agent.running();
  if (recipe.needs.empty()) return {};
  {
    const std::scoped_lock lock(needs_mutex_);
    auto& [told_of, when] = needs_told_[{agent.record().name, recipe.id}];
    if (told_of.lock() == running && when == offered.install->time) return {};
    told_of = running;
    when = offered.install->time;
  }
  std::vector<std::string> absent;
  SandboxPlace place(agent, kLookPatience, stop);
  const std::string home = sys::environment_variable("HOME").value_or("/");
  for (const std::string& need : recipe.needs) {
    const auto met = place.run(
        {.arguments = need_probe(need, home), .cwd = agent.layout().home, .timeout = kProbeTimeout, .stop = stop});
    if (met && met->exit_code == 0) continue;
    absent.push_back(need_for_model(need));
    agent.used({.service = "plugin", .what = recipe.id, .outcome = need_line(need, agent.record())});
  }
  return absent;
}

// `more` are variables of its.
Envelope Plugins::run(AgentSandbox& agent, const OfferedTool& offered, const ToolCall& call,
                      std::vector<std::string> more) {
  const plugin::Tool& wanted = offered.tool();
  const plugin::Recipe& recipe = offered.install->recipe;
  auto variables = plugin_variables(wanted, call.arguments);
  if (!variables) return std::move(variables).error();
  const auto use = uses_.begin(agent.record().name, recipe.id, call.stop);
  if (!use || !is_still(offered)) return gone(call.name);
  if (const Status back = put_back_for(agent, recipe.id, **use); !back) {
    return tool::failure(
        tool::Kind::kUnavailable,
        cat({"The plugin is being repaired: its packages are missing in the agent's system, and cannot be put "
             "back yet: ",
             printable(back.error().message)}));
  }
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
                              .stop = (*use)->stop()};
  auto end = start(agent, offered, command);
  if (!end && has_lost_files(agent, recipe.id, command.stop)) end = run_again(agent, offered, command);
  if ((*use)->is_removed()) return gone(call.name);
  Envelope envelope = end ? ended(*end, command) : failed(end.error());
  std::ranges::move(tell_needs(agent, offered, command.stop), std::back_inserter(envelope.warnings));
  return envelope;
}

}  // namespace hutch::service
