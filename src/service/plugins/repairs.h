// What could not be undone at once is tried again, less and less often.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace hutch::service {

// Any thread may use it. One thread, once there is something to do, does one agent's after another.
class PluginRepairs {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kFirst{5'000};
  static constexpr std::chrono::milliseconds kLongest{300'000};
  // False where something is left: it is asked again. `stop` is requested by the end of this object.
  using Repair = std::function<bool(const std::string& agent, const std::stop_token& stop)>;
  explicit PluginRepairs(Repair repair, std::chrono::milliseconds first = kFirst)
      : repair_(std::move(repair)), first_(first) {}
  // Ends what is under way, and waits for it.
  ~PluginRepairs();
  PluginRepairs(const PluginRepairs&) = delete;
  PluginRepairs& operator=(const PluginRepairs&) = delete;

  void add(const std::string& agent);

 private:
  struct Due {
    Clock::time_point at{};
    std::chrono::milliseconds pause{};
  };
  void work();
  std::map<std::string, Due>::iterator next();  // with the lock held

  const Repair repair_;
  const std::chrono::milliseconds first_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::stop_source stop_;
  std::map<std::string, Due> due_;
  std::optional<std::thread> thread_;
};

}  // namespace hutch::service
