// Turns at the plugins of one agent: one installation, repair or removal of packages at a time.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include "base/result.h"

namespace hutch::service {

// Any thread may use it.
class PluginTurns {
 public:
  // As long as it exists, nobody else has the turn.
  class Turn {
   public:
    explicit Turn(std::shared_ptr<std::timed_mutex> mutex)
        : mutex_(std::move(mutex)), lock_(*mutex_, std::defer_lock) {}
    bool try_for(std::chrono::milliseconds time) { return lock_.try_lock_for(time); }

   private:
    std::shared_ptr<std::timed_mutex> mutex_;
    std::unique_lock<std::timed_mutex> lock_;  // ends before what it holds
  };
  // Waits at most `patience`: Code::kConflict then. Code::kTimeout as soon as `stop` is requested.
  Result<Turn> take(const std::string& agent, std::chrono::milliseconds patience, const std::stop_token& stop);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<std::timed_mutex>> turns_;
};

}  // namespace hutch::service
