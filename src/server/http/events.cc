// The stream of what happens to agents.
#include <poll.h>

#include <array>

#include "server/http/routes.h"
#include "service/plugins/plugins.h"
#include "sys/io.h"
#include "tool/schema.h"

namespace hutch::server::http {

namespace {

// The event of one of its programs, as hutch-host events listen has it, and whose it was.
Status send_emitted(Exchange& exchange, const AgentEvent& told) {
  const auto event = tool::parse_value(told.reason, tool::kArgumentsBytesMax);
  const auto* members = event ? event->get<Value::Object>() : nullptr;
  if (members == nullptr) return {};
  Value::Object object = *members;
  object.insert_or_assign("agent", Value(told.agent));
  return exchange.send_event("event", Value(std::move(object)));
}

// The last events of its programs, oldest first.
Handled get_agent_events(Exchange& exchange) {
  const auto agent = TRY(exchange.agent());
  Value::List events;
  for (const service::HostEvent& event : exchange.shared().plugins.events().last(agent->record().name)) {
    events.push_back(service::Plugins::shown_event(*agent, event));
  }
  return json_answer(200, tool::json_text(Value(Value::Object{{"events", std::move(events)}})));
}

Handled get_events(Exchange& exchange) {
  const std::string agent = exchange.query("agent");
  if (!agent.empty()) TRY(exchange.check_agent(agent));
  const auto listener = TRY(exchange.shared().events.listen());
  TRY(exchange.begin_events());
  // So that a client knows that from here on it misses nothing.
  TRY(exchange.send_event("ready", Value(Value::Object{})));
  for (;;) {
    while (const auto event = listener->take()) {
      if ((!agent.empty() && event->agent != agent) || !exchange.may_see(event->agent)) continue;
      if (event->state == service::kEmitted) {
        TRY(send_emitted(exchange, *event));
        continue;
      }
      Value::Object data{{"agent", event->agent}, {"state", event->state}, {"time", event->time}};
      if (!event->reason.empty()) data["reason"] = event->reason;
      TRY(exchange.send_event("agent", Value(std::move(data))));
    }
    if (listener->overflowed()) return fail(Error::invalid("the client does not keep up"));
    std::array<pollfd, 2> wait = {
        {{listener->fd(), POLLIN, 0}, {exchange.connection().fd(), exchange.connection().gone_events(), 0}}};
    const int ready = TRY(sys::poll(wait, kPing));
    if (wait[1].revents != 0) return Streamed{};
    if (ready == 0) TRY(exchange.send_ping());
  }
}

constexpr std::array kEventRoutes = {Route{"GET", "/v1/events", BodyType::kNone, get_events},
                                     Route{"GET", "/v1/agents/{name}/events", BodyType::kNone, get_agent_events}};

}  // namespace

std::span<const Route> event_routes() { return kEventRoutes; }

}  // namespace hutch::server::http
