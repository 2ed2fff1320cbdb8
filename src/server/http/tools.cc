// Routes of tools.
#include <array>

#include "base/text.h"
#include "server/http/attended.h"
#include "server/http/routes.h"
#include "service/plugins/call_tool.h"
#include "service/plugins/tool_description.h"

namespace hutch::server::http {

namespace {

constexpr std::size_t kToolTurnBytesMax = 256;

Handled tools(const Value& list) { return json_answer(200, tool::json_text(Value(Value::Object{{"tools", list}}))); }

Handled get_tools(Exchange&) { return tools(service::tool_list(service::describe_tools())); }

Handled get_agent_tools(Exchange& exchange) {
  return tools(service::tool_list(service::describe_tools(*TRY(exchange.agent()), exchange.shared().plugins)));
}

// Without its client the call is cancelled.
Handled post_tool(Exchange& exchange) {
  const auto agent = TRY(exchange.agent());
  service::ToolCall wanted{.name = exchange.part("tool"), .arguments = exchange.request().body};
  if (!service::is_tool(*agent, &exchange.shared().plugins, wanted.name)) {
    return fail(Error::not_found(cat({"there is no tool ", printable(wanted.name, 64)})));
  }
  const std::string* turn = exchange.request().field("hutch-turn");
  if (turn != nullptr) wanted.turn = *turn;
  if (wanted.turn.size() > kToolTurnBytesMax) return fail(Error::invalid("Hutch-Turn is too long"));
  wanted.tasks = &exchange.shared().tasks;
  wanted.agents = &exchange.shared().agents;
  wanted.plugins = &exchange.shared().plugins;
  const auto call = [&shared = exchange.shared(), agent, wanted = std::move(wanted)](const std::stop_token& stop) {
    service::ToolCall stopped = wanted;
    stopped.stop = stop;
    return Result<Value>(tool::value_of(service::call_tool(*agent, shared.limiters, stopped)));
  };
  return value_answer(200, TRY(attended(exchange, call)));
}

constexpr std::array kToolRoutes = {
    Route{"GET", "/v1/tools", BodyType::kNone, get_tools},
    Route{"GET", "/v1/agents/{name}/tools", BodyType::kNone, get_agent_tools},
    Route{"POST", "/v1/agents/{name}/tools/{tool}", BodyType::kJson, post_tool},
};

}  // namespace

std::span<const Route> tool_routes() { return kToolRoutes; }

}  // namespace hutch::server::http
