// Counting commands in turns, and uses in a sliding minute.
#include "tool/limiters.h"

#include <algorithm>

namespace hutch::tool {

namespace {

constexpr std::chrono::seconds kQuiet{15};
constexpr std::chrono::seconds kWindow{60};
constexpr std::size_t kTurnsMax = 64;

}  // namespace

ExecLimiter::Answer ExecLimiter::take(const std::string& agent, const std::string& turn, std::size_t most,
                                      TimePoint now) {
  if (most == 0) return Answer::kTaken;
  const std::lock_guard lock(mutex_);
  Turn& current = find(agents_[agent], turn);
  if (turn.empty() && current.commands > 0 && now - current.last >= kQuiet) current.commands = 0;
  if (current.commands >= most) return Answer::kRefused;
  ++current.commands;
  current.last = now;
  return Answer::kTaken;
}

void ExecLimiter::ended(const std::string& agent, const std::string& turn, TimePoint now) {
  const std::lock_guard lock(mutex_);
  const auto at = agents_.find(agent);
  if (at == agents_.end()) return;
  Turn& current = find(at->second, turn);
  current.last = std::max(current.last, now);
}

void ExecLimiter::forget(const std::string& agent) {
  const std::lock_guard lock(mutex_);
  agents_.erase(agent);
}

ExecLimiter::Turn& ExecLimiter::find(Turns& turns, const std::string& name) {
  const auto at = std::ranges::find(turns, name, &Turn::name);
  if (at != turns.end()) {
    turns.splice(turns.begin(), turns, at);
  } else {
    turns.push_front({.name = name});
    if (turns.size() > kTurnsMax) turns.pop_back();
  }
  return turns.front();
}

RateLimiter::Answer RateLimiter::take(const std::string& agent, const std::string& service, TimePoint now,
                                      const std::string& by) {
  const std::lock_guard lock(mutex_);
  std::deque<TimePoint>& uses = uses_[agent][{service, by}];
  while (!uses.empty() && now - uses.front() >= kWindow) uses.pop_front();
  if (uses.size() >= most(service)) return Answer::kRefused;
  uses.push_back(now);
  return Answer::kTaken;
}

void RateLimiter::forget(const std::string& agent) {
  const std::lock_guard lock(mutex_);
  uses_.erase(agent);
}

std::size_t RateLimiter::most(std::string_view service) {
  if (service == "inference") return 60;
  if (service == "dispatch") return 10;
  // Of these a program needs many, and each is quick.
  if (service == "config" || service == "memory" || service == "events") return 1200;
  return 120;
}

}  // namespace hutch::tool
