// Events that plugins hear of: for each one a tool of theirs is called with its payload, in line, and not too often.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "service/plugins/host_events.h"

namespace hutch::service {

// Any thread may use it.
class PluginEvents {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kWaitingMax = 64;  // of an agent; what comes beyond is lost
  static constexpr int kCallsMax = 30;  // of a plugin in a minute: one that tells itself what it hears ends here

  struct Due {
    std::string agent;
    std::string plugin;
    std::string tool;  // its id
    HostEvent event;
  };
  // Calls the tool, to its end.
  using Call = std::function<void(const Due& due)>;
  // An event that is not told to a plugin, and why: once in a minute for each.
  using Lose = std::function<void(const Due& due, std::string_view why)>;
  PluginEvents(Call call, Lose lose) : call_(std::move(call)), lose_(std::move(lose)) {}
  // Waits for the call of each agent that is under way; nothing else of what waits is done.
  ~PluginEvents();
  PluginEvents(const PluginEvents&) = delete;
  PluginEvents& operator=(const PluginEvents&) = delete;

  void add(Due due);
  void forget(const std::string& agent);

 private:
  struct Line {
    std::deque<Due> waiting;
    std::thread thread;
    bool works = false;
  };
  struct Rate {
    Clock::time_point since{};
    int calls = 0;
    bool told = false;
  };
  void work(const std::string& agent);
  bool take_call(const Due& due, std::string_view& why);  // with the lock held

  const Call call_;
  const Lose lose_;
  std::mutex mutex_;
  bool ending_ = false;
  std::map<std::string, Line> lines_;
  std::map<std::pair<std::string, std::string>, Rate> rates_;  // by agent and plugin
};

}  // namespace hutch::service
