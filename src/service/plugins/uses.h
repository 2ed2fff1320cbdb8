// Who is at work for a plugin of an agent: calls of its tools, installations, repairs. Its removal ends them, and
// nothing begins while it lasts.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace hutch::service {

// Any thread may use it. It outlives what it hands out.
class PluginUses {
 public:
  class Use {
   public:
    Use(PluginUses& uses, std::pair<std::string, std::string> of) : uses_(uses), of_(std::move(of)) {}
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    // Of the removal, and of whoever asked.
    std::stop_token stop() const { return stop_.get_token(); }
    bool is_removed() const;

   private:
    friend class PluginUses;
    PluginUses& uses_;
    const std::pair<std::string, std::string> of_;
    std::stop_source stop_;
    bool is_removed_ = false;
    std::unique_ptr<std::stop_callback<std::function<void()>>> outer_;
  };
  // Code::kConflict while the plugin is being removed.
  Result<std::unique_ptr<Use>> begin(const std::string& agent, const std::string& plugin, const std::stop_token& outer);

  class Closing {
   public:
    Closing(PluginUses& uses, std::pair<std::string, std::string> of) : uses_(uses), of_(std::move(of)) {}
    ~Closing();
    Closing(const Closing&) = delete;
    Closing& operator=(const Closing&) = delete;
    // Whether all that was at work has ended by then.
    bool await(std::chrono::milliseconds patience);

   private:
    PluginUses& uses_;
    const std::pair<std::string, std::string> of_;
  };
  // Tells all that are at work to end, and does not wait for that. Code::kConflict where it is being removed already.
  Result<std::unique_ptr<Closing>> close(const std::string& agent, const std::string& plugin);

  // The plugins of an agent that somebody is at work for; of all agents where none is named, by agent.
  std::vector<std::pair<std::string, std::string>> at_work(const std::string& agent) const;

 private:
  struct Works {
    std::set<Use*> uses;
    bool is_closed = false;
  };
  using Of = std::pair<std::string, std::string>;
  void drop_if_idle(const Of& of);  // with the lock held

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Of, Works> works_;
};

}  // namespace hutch::service
