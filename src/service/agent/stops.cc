// What is done for an agent outside of its sandbox, and ends with it.
#include "service/agent/stops.h"

#include <utility>

namespace hutch::service {

std::stop_token AgentStops::of(const std::string& agent) {
  const std::scoped_lock lock(mutex_);
  std::stop_source& source = sources_[agent];
  if (is_over_) source.request_stop();
  return source.get_token();
}

// Without the lock: callbacks run here.
void AgentStops::stop(const std::string& agent) {
  std::stop_source source{std::nostopstate};
  {
    const std::scoped_lock lock(mutex_);
    const auto found = sources_.find(agent);
    if (found == sources_.end()) return;
    source = std::move(found->second);
    sources_.erase(found);
  }
  source.request_stop();
}

void AgentStops::end_all() {
  std::map<std::string, std::stop_source> sources;
  {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
    sources.swap(sources_);
  }
  for (auto& [agent, source] : sources) source.request_stop();
}

}  // namespace hutch::service
