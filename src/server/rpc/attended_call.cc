// What a call does while its client may go.
#include "server/rpc/attended_call.h"

#include <poll.h>

#include <array>
#include <utility>

#include "sandbox/io/inbox.h"
#include "server/state/shared.h"
#include "sys/io.h"

namespace hutch::server {

Result<Value> attended(Session& session, AttendedWork work) {
  std::stop_source stop;
  const auto done = TRY(sandbox::Inbox<Result<Value>>::make(1));
  session.shared().workers.run([done, work = std::move(work), stop = stop.get_token()] { done->add(work(stop)); });
  for (;;) {
    if (auto result = done->take()) return std::move(*result);
    if (!stop.stop_requested()) {
      // What it says meanwhile is no call's, and it is not served any more.
      const auto heard = session.hear(done->fd(), std::nullopt);
      if (!heard || heard->gone || heard->input) stop.request_stop();
      continue;
    }
    std::array<pollfd, 1> wait = {{{done->fd(), POLLIN, 0}}};
    TRY(sys::poll(wait, std::nullopt));
  }
}

Result<std::shared_ptr<sandbox::Resident>> started(Session& session, service::AgentSandbox& agent) {
  if (auto running = agent.running(); running && running->is_alive()) return running;
  std::shared_ptr<sandbox::Resident> resident;
  const auto start = [&](const std::stop_token& gone) -> Result<Value> {
    resident = TRY(agent.resident(gone));
    return Value();
  };
  TRY(attended(session, start));
  return resident;
}

}  // namespace hutch::server
