// Calls of tools.
#include <array>

#include "server/rpc/attended_call.h"
#include "server/rpc/session.h"
#include "service/plugins/call_tool.h"
#include "service/plugins/tool_description.h"

namespace hutch::server {

namespace {

Result<Value> list_tools(Session& session, const CallReader& call) {
  const std::string name = TRY(call.optional_text("agent"));
  if (name.empty()) return service::tool_list(service::describe_tools());
  const auto agent = TRY(session.shared().agents.sandbox(name));
  return service::tool_list(service::describe_tools(*agent, session.shared().plugins));
}

Result<Value> call_tool(Session& session, const CallReader& call) {
  const std::string name = TRY(call.text("agent"));
  const auto agent = TRY(session.shared().agents.sandbox(name));
  service::ToolCall wanted;
  wanted.name = TRY(call.text("tool"));
  wanted.arguments = TRY(call.optional_text("arguments"));
  wanted.turn = TRY(call.optional_text("turn"));
  wanted.tasks = &session.shared().tasks;
  wanted.agents = &session.shared().agents;
  wanted.plugins = &session.shared().plugins;
  return attended(session,
                  [agent, &shared = session.shared(), wanted = std::move(wanted)](const std::stop_token& stop) {
                    service::ToolCall stopped = wanted;
                    stopped.stop = stop;
                    return Result<Value>(tool::value_of(service::call_tool(*agent, shared.limiters, stopped)));
                  });
}

constexpr std::array kToolVerbs = {Verb{"tool.list", list_tools}, Verb{"tool.call", call_tool}};

}  // namespace

std::span<const Verb> tool_verbs() { return kToolVerbs; }

}  // namespace hutch::server
