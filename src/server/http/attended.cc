// What a request does while its client may go.
#include "server/http/attended.h"

#include <poll.h>

#include <array>
#include <utility>

#include "sandbox/io/inbox.h"
#include "sys/io.h"

namespace hutch::server::http {

Result<Value> attended(Exchange& exchange, std::function<Result<Value>(const std::stop_token& stop)> work) {
  std::stop_source stop;
  const auto done = TRY(sandbox::Inbox<Result<Value>>::make(1));
  exchange.shared().workers.run([work = std::move(work), token = stop.get_token(), done] { done->add(work(token)); });
  for (;;) {
    const bool gone = stop.stop_requested();
    std::array<pollfd, 2> wait = {
        {{done->fd(), POLLIN, 0}, {gone ? -1 : exchange.connection().fd(), exchange.connection().gone_events(), 0}}};
    const auto ready = sys::poll(wait, std::nullopt);
    if (!ready || wait[1].revents != 0) stop.request_stop();
    if (wait[0].revents == 0) continue;
    if (auto result = done->take()) return std::move(*result);
  }
}

Result<std::shared_ptr<sandbox::Resident>> started(Exchange& exchange, service::AgentSandbox& agent) {
  if (auto running = agent.running(); running && running->is_alive()) return running;
  std::shared_ptr<sandbox::Resident> resident;
  const auto start = [&](const std::stop_token& gone) -> Result<Value> {
    resident = TRY(agent.resident(gone));
    return Value();
  };
  TRY(attended(exchange, start));
  return resident;
}

}  // namespace hutch::server::http
