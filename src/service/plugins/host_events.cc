// Events between an agent's programs.
#include "service/plugins/host_events.h"

#include "store/spool.h"

namespace hutch::service {

namespace {

std::size_t size_of(const HostEvent& event) { return sizeof(event) + event.type.size() + event.payload.size(); }

}  // namespace

void EventListener::add(std::shared_ptr<const HostEvent> event) {
  const std::scoped_lock lock(mutex_);
  bytes_ += size_of(*event);
  waiting_.push_back(std::move(event));
  for (; waiting_.size() > kWaitingMax || bytes_ > kWaitingBytesMax; ++missed_) {
    bytes_ -= size_of(*waiting_.front());
    waiting_.pop_front();
  }
  event_.signal();
}

EventListener::Taken EventListener::take() {
  const std::scoped_lock lock(mutex_);
  if (waiting_.empty()) {
    event_.clear();
    return {};
  }
  Taken taken{std::move(waiting_.front()), std::exchange(missed_, 0)};
  waiting_.pop_front();
  bytes_ -= size_of(*taken.event);
  return taken;
}

HostEvent HostEvents::emit(const std::string& agent, std::string type, std::string payload) {
  const std::scoped_lock lock(mutex_);
  Ring& ring = rings_[agent];
  const auto event = std::make_shared<const HostEvent>(
      HostEvent{++ring.count, std::move(type), std::move(payload), store::format_time(store::now())});
  std::erase_if(ring.listeners, [](const auto& listener) { return listener.expired(); });
  for (const auto& weak : ring.listeners) {
    if (const auto listener = weak.lock()) listener->add(event);
  }
  ring.kept.push_back(event);
  if (ring.kept.size() > kKept) ring.kept.pop_front();
  return *event;
}

Result<std::shared_ptr<HostEvents::Listener>> HostEvents::listen(const std::string& agent) {
  auto listener = std::make_shared<Listener>(TRY(sys::Event::make()));
  const std::scoped_lock lock(mutex_);
  rings_[agent].listeners.push_back(listener);
  return listener;
}

std::vector<HostEvent> HostEvents::last(const std::string& agent) const {
  const std::scoped_lock lock(mutex_);
  const auto found = rings_.find(agent);
  if (found == rings_.end()) return {};
  std::vector<HostEvent> events;
  for (const auto& event : found->second.kept) events.push_back(*event);
  return events;
}

void HostEvents::forget(const std::string& agent) {
  const std::scoped_lock lock(mutex_);
  rings_.erase(agent);
}

}  // namespace hutch::service
