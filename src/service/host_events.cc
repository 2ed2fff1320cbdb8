// Events between an agent's programs.
#include "service/host_events.h"

#include "store/spool.h"

namespace hutch::service {

namespace {

constexpr std::size_t kWaitingMax = 1024;

}  // namespace

HostEvent HostEvents::emit(const std::string& agent, std::string type, std::string payload) {
  const std::scoped_lock lock(mutex_);
  Ring& ring = rings_[agent];
  const HostEvent event{++ring.count, std::move(type), std::move(payload), store::format_time(store::now())};
  std::erase_if(ring.listeners, [](const auto& listener) { return listener.expired(); });
  for (const auto& weak : ring.listeners) {
    if (const auto listener = weak.lock()) listener->add(event);
  }
  ring.kept.push_back(event);
  if (ring.kept.size() > kKept) ring.kept.pop_front();
  return event;
}

Result<std::shared_ptr<HostEvents::Listener>> HostEvents::listen(const std::string& agent) {
  auto listener = TRY(Listener::make(kWaitingMax));
  const std::scoped_lock lock(mutex_);
  rings_[agent].listeners.push_back(listener);
  return listener;
}

std::vector<HostEvent> HostEvents::last(const std::string& agent) const {
  const std::scoped_lock lock(mutex_);
  const auto found = rings_.find(agent);
  if (found == rings_.end()) return {};
  return {found->second.kept.begin(), found->second.kept.end()};
}

void HostEvents::forget(const std::string& agent) {
  const std::scoped_lock lock(mutex_);
  rings_.erase(agent);
}

}  // namespace hutch::service
