// A tool called for an agent.
#include "service/plugins/call_tool.h"

#include <array>

#include "base/text.h"
#include "service/agent/sandbox_place.h"
#include "service/agent/secrets.h"
#include "service/agent/system.h"
#include "service/common/scrubbed_output.h"
#include "service/common/scrubbed_value.h"
#include "service/plugins/plugins.h"
#include "service/plugins/tool_description.h"
#include "service/task/tool.h"
#include "store/spool.h"
#include "tool/registry.h"
#include "tool/steps.h"

namespace hutch::service {

namespace {

using tool::Value;

constexpr std::string_view kStarting =
    "Sandbox is still initializing. Real sandbox tools will register on the next turn. Reply without sandbox tools, or "
    "wait and try again.";

// One of hutch's own is always that.
std::optional<Plugins::OfferedTool> find_plugin_tool(const AgentSandbox& agent, Plugins* plugins,
                                                     const std::string& name) {
  if (plugins == nullptr || tool::find_tool(name) != nullptr) return std::nullopt;
  return plugins->find_tool(agent, name);
}

// No value of a secret is for a model.
void scrub_envelope(const secret::Scrubber& scrubber, tool::Envelope& envelope) {
  if (scrubber.empty()) return;
  envelope.result = scrubbed(scrubber, envelope.result);
  envelope.message = scrubber.scrub(envelope.message);
  envelope.field = scrubber.scrub(envelope.field);
  // Of one that is there it is hutch's word.
  if (envelope.kind == tool::Kind::kToolNotFound) envelope.tool = scrubber.scrub(envelope.tool);
  envelope.expected = scrubber.scrub(envelope.expected);
  for (std::string& warning : envelope.warnings) warning = scrubber.scrub(warning);
  for (auto& [name, value] : envelope.extra) value = scrubbed(scrubber, value);
}

tool::Envelope call_once(AgentSandbox& agent, tool::Limiters& limiters, const ToolCall& call) {
  const tool::AgentSettings settings = tool_settings(agent);
  SandboxPlace place(agent, settings.command_timeout, call.stop);
  tool::CallContext context{.place = place, .settings = settings, .limiters = limiters};
  context.turn = call.turn;
  const std::shared_ptr<const secret::Scrubber> scrubber = agent.secrets().scrubber();
  context.scrubber = scrubber.get();
  ScrubbedOutput output(*scrubber, call.on_output);
  if (call.on_output) {
    context.on_output = [&](tool::Stream stream, std::string_view bytes) { output.take(stream, bytes); };
  }
  context.stop = call.stop;
  if (call.tasks != nullptr) {
    context.run_task = [&](const tool::TaskWish& wish) {
      ToolCall heard = call;
      heard.on_output = context.on_output;
      return run_task(*call.tasks, settings.name, wish, heard);
    };
  }
  if (call.agents != nullptr) {
    context.use_of_secret = [&](const std::string& key) { return use_of_secret(*call.agents, settings.name, key); };
    context.record_artifact = [&](const tool::SharedFile& file) {
      return call.agents->artifacts().put({.agent = settings.name,
                                           .name = file.name,
                                           .size = file.size,
                                           .sha256 = file.sha256,
                                           .type = file.type,
                                           .description = file.description,
                                           .shared = store::format_time(store::now())});
    };
    context.set_secret = [&](const tool::SecretWish& wish) {
      return wish_secret(*call.agents, settings.name, wish, call.stop);
    };
  }
  if (call.plugins != nullptr) {
    context.register_plugin = [&](const std::string& id) {
      return call.plugins->make_from_directory(settings.name, id, place, call.stop);
    };
  }
  const auto of_plugin = find_plugin_tool(agent, call.plugins, call.name);
  tool::Envelope envelope;
  if (of_plugin) {
    ToolCall heard = call;
    heard.on_output = context.on_output;
    envelope = call.plugins->call(agent, *of_plugin, heard);
    envelope.tool = call.name;
  } else {
    envelope = tool::call_tool(call.name, call.arguments.empty() ? "{}" : call.arguments, context);
  }
  if (call.on_output) output.finish(envelope.ok ? secret::Cut::kNowhere : secret::Cut::kEnd);
  // By what holds now: a secret may have been set meanwhile.
  scrub_envelope(*agent.secrets().scrubber(), envelope);
  if (!envelope.ok && place.was_starting()) {
    envelope = tool::failure(tool::Kind::kUnavailable, std::string(kStarting));
    envelope.retryable = true;
    envelope.tool = call.name;
  }
  if (envelope.ok && call.name == tool::kShareArtifact) agent.tell_artifacts_changed();
  return envelope;
}

}  // namespace

tool::Envelope call_tool(AgentSandbox& agent, tool::Limiters& limiters, const ToolCall& call) {
  tool::Envelope envelope = call_once(agent, limiters, call);
  const std::string& name = agent.record().name;
  if (call.agents == nullptr || !needs_system(envelope) || !gets_system_by_itself(*call.agents, name)) return envelope;
  const auto tell = [&](const std::string& line) {
    if (call.on_output) call.on_output(tool::Stream::kError, cat({line, "\n"}));
  };
  const auto with_system = give_system(*call.agents, name, SystemBy::kSetting, tell, call.stop);
  if (with_system) return call_once(**with_system, limiters, call);
  envelope = tool::failed("Failed to give the agent a system of its own", with_system.error(), tool::Retry::kYes);
  envelope.tool = call.name;
  return envelope;
}

bool is_tool(const AgentSandbox& agent, Plugins* plugins, const std::string& name) {
  return tool::find_tool(name) != nullptr || find_plugin_tool(agent, plugins, name).has_value();
}

}  // namespace hutch::service
