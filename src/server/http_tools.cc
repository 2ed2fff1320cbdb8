// Routes of tools.
#include <poll.h>

#include <array>

#include "base/text.h"
#include "sandbox/inbox.h"
#include "server/http_routes.h"
#include "service/call_tool.h"
#include "sys/io.h"

namespace hutch::server::http {

namespace {

constexpr std::size_t kToolTurnBytesMax = 256;

Handled tools(const Value& list) { return json_answer(200, tool::json_text(Value(Value::Object{{"tools", list}}))); }

Handled get_tools(Exchange&) { return tools(service::tool_list(nullptr, nullptr)); }

Handled get_agent_tools(Exchange& exchange) {
  return tools(service::tool_list(TRY(exchange.agent()).get(), &exchange.shared().plugins));
}

// On another thread, while this one sees whether the client is still there: without it the call is cancelled.
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
  std::stop_source stop;
  wanted.stop = stop.get_token();
  const auto done = TRY(sandbox::Inbox<std::string>::make(1));
  exchange.shared().workers.run([&shared = exchange.shared(), agent, wanted = std::move(wanted), done] {
    done->add(tool::json_text(service::call_tool(*agent, shared.limiters, wanted)));
  });
  bool gone = false;
  for (;;) {
    std::array<pollfd, 2> wait = {
        {{done->fd(), POLLIN, 0}, {gone ? -1 : exchange.connection().fd(), exchange.connection().gone_events(), 0}}};
    const auto ready = sys::poll(wait, std::nullopt);
    if (!ready || wait[1].revents != 0) {
      gone = true;
      stop.request_stop();
    }
    if (wait[0].revents == 0) continue;
    if (auto envelope = done->take()) return json_answer(200, std::move(*envelope));
  }
}

constexpr std::array kToolRoutes = {
    Route{"GET", "/v1/tools", BodyType::kNone, get_tools},
    Route{"GET", "/v1/agents/{name}/tools", BodyType::kNone, get_agent_tools},
    Route{"POST", "/v1/agents/{name}/tools/{tool}", BodyType::kJson, post_tool},
};

}  // namespace

std::span<const Route> tool_routes() { return kToolRoutes; }

}  // namespace hutch::server::http
