// What happens to agents, told to whoever listens.
#include "server/state/events.h"

#include <chrono>

#include "store/record.h"

namespace hutch::server {

namespace {
constexpr std::size_t kWaitingMax = 4096;
constexpr std::size_t kWaitingOfOneKindMax = 16;
}  // namespace

Result<std::shared_ptr<Events::Listener>> Events::listen() {
  auto listener = TRY(Listener::make(kWaitingMax));
  const std::scoped_lock lock(mutex_);
  listeners_.push_back({.listener = listener});
  return listener;
}

Result<std::shared_ptr<Events::Listener>> Events::listen_to(std::string agent, std::string_view state) {
  auto listener = TRY(Listener::make(kWaitingOfOneKindMax));
  const std::scoped_lock lock(mutex_);
  std::erase_if(listeners_, [](const Listening& one) { return one.listener.expired(); });
  listeners_.push_back({.listener = listener, .agent = std::move(agent), .state = std::string(state)});
  return listener;
}

void Events::tell(std::string agent, std::string_view state, std::string reason) {
  const auto now = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const AgentEvent event{std::move(agent), std::string(state), std::move(reason), store::format_time(now)};
  const std::scoped_lock lock(mutex_);
  std::erase_if(listeners_, [](const Listening& one) { return one.listener.expired(); });
  for (const Listening& one : listeners_) {
    const bool hears =
        (one.agent.empty() || one.agent == event.agent) && (one.state.empty() || one.state == event.state);
    const auto listener = hears ? one.listener.lock() : nullptr;
    if (listener) listener->add(event);
  }
}

}  // namespace hutch::server
