// What happens to agents, told to whoever listens.
#include "server/events.h"

#include <chrono>

#include "store/record.h"

namespace hutch::server {

namespace {
constexpr std::size_t kWaitingMax = 4096;
}

Result<std::shared_ptr<Events::Listener>> Events::listen() {
  auto listener = TRY(Listener::make(kWaitingMax));
  const std::scoped_lock lock(mutex_);
  listeners_.push_back(listener);
  return listener;
}

void Events::tell(std::string agent, std::string_view state, std::string reason) {
  const auto now = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const AgentEvent event{std::move(agent), std::string(state), std::move(reason), store::format_time(now)};
  const std::scoped_lock lock(mutex_);
  std::erase_if(listeners_, [](const auto& listener) { return listener.expired(); });
  for (const auto& weak : listeners_) {
    if (const auto listener = weak.lock()) listener->add(event);
  }
}

}  // namespace hutch::server
