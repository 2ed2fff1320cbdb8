// The stream of what happens to agents.
#include <poll.h>

#include <array>

#include "server/http_routes.h"
#include "sys/io.h"

namespace hutch::server::http {

namespace {

constexpr std::chrono::milliseconds kPing{15'000};

Handled follow(Exchange& exchange) {
  const std::string agent = exchange.query("agent");
  if (!agent.empty()) TRY(exchange.shared().agents.show(agent));
  const auto listener = TRY(exchange.shared().events.listen());
  TRY(exchange.begin_events());
  // So that a client knows that from here on it misses nothing.
  TRY(exchange.send_event("ready", Value(Value::Object{})));
  for (;;) {
    while (const auto event = listener->take()) {
      if (!agent.empty() && event->agent != agent) continue;
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

constexpr std::array kRoutes = {Route{"GET", "/v1/events", BodyType::kNone, follow}};

}  // namespace

std::span<const Route> event_routes() { return kRoutes; }

}  // namespace hutch::server::http
