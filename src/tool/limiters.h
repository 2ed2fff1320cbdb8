// How many commands an agent may start in a turn, and how often it may use a service.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace hutch::tool {

using TimePoint = std::chrono::steady_clock::time_point;

// Commands of each agent in a turn. The client names the turn; an unnamed one ends after 15 s in which nothing was
// started and nothing ended. What was refused does not count, so that asking again does not prolong the refusal.
class ExecLimiter {
 public:
  enum class Answer { kTaken, kRefused };

  // `most` 0: no limit.
  Answer take(const std::string& agent, const std::string& turn, std::size_t most, TimePoint now);
  // A command that was taken has ended: the quiet begins now.
  void ended(const std::string& agent, const std::string& turn, TimePoint now);
  void forget(const std::string& agent);

 private:
  struct Turn {
    std::string name;
    std::size_t commands = 0;
    TimePoint last{};
  };
  // The latest turns of each agent, the last used first: a client may hold several conversations at once.
  using Turns = std::list<Turn>;
  Turn& find(Turns& turns, const std::string& name);

  std::mutex mutex_;
  std::map<std::string, Turns> agents_;
};

// Uses of each service by each agent within the last 60 s.
class RateLimiter {
 public:
  enum class Answer { kTaken, kRefused };

  // `by` has a share of its own: a plugin that the host knows apart from its agent.
  Answer take(const std::string& agent, const std::string& service, TimePoint now, const std::string& by = {});
  void forget(const std::string& agent);
  // inference 60, http 120, dispatch 10, config, memory and events 1200, any other 120.
  static std::size_t most(std::string_view service);

 private:
  std::mutex mutex_;
  std::map<std::string, std::map<std::pair<std::string, std::string>, std::deque<TimePoint>>> uses_;
};

struct Limiters {
  ExecLimiter commands;
  RateLimiter rates;
};

}  // namespace hutch::tool
