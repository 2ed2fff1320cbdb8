// Removals that are waited for no longer than is worth it, and go on by themselves.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/result.h"

namespace hutch::service {

// Any thread may use it.
class PluginRemovals {
 public:
  using Work = std::function<Result<bool>()>;
  PluginRemovals() = default;
  // Waits for all that go on.
  ~PluginRemovals();
  PluginRemovals(const PluginRemovals&) = delete;
  PluginRemovals& operator=(const PluginRemovals&) = delete;

  // What came of it, or nothing where that takes longer: it goes on then.
  std::optional<Result<bool>> run(Work work, std::chrono::milliseconds patience);

 private:
  struct Removal {
    std::optional<Result<bool>> result;
    std::thread thread;
  };
  void join_ended();  // with the lock held

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Removal>> removals_;
};

}  // namespace hutch::service
