// The virtual machines of agents: they begin with the daemon, and one that crashes begins again, once.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/state/events.h"
#include "server/state/shared.h"
#include "store/machine_settings.h"
#include "sys/event.h"

namespace hutch::server {

// Which of them to start again: one that ran, and ended with an error. Pure.
class Crashes {
 public:
  using Clock = std::chrono::steady_clock;
  // One that crashes again before that is let alone: it would again.
  static constexpr std::chrono::minutes kBetween{10};

  // That the agent's sandbox is in that state now (service::name_of). Whether it is to be started again.
  bool take(const std::string& agent, std::string_view state, Clock::time_point now);

 private:
  struct Known {
    bool ran = false;
    std::optional<Clock::time_point> restarted{};
  };
  std::map<std::string, Known> known_;
};

// Any thread may use it. Its own work is a thread of Shared::workers.
class Machines {
 public:
  // In the background those of all agents start, one after the other, where sandbox.json has autoStart.
  static Result<std::unique_ptr<Machines>> begin(Shared& shared, store::MachineSettingsFile settings);
  Machines(Shared& shared, store::MachineSettingsFile settings, std::shared_ptr<Events::Listener> events,
           sys::Event leaving);

  // Whether the daemon is to stay for one that runs: it would start it again.
  bool keep_daemon() const;
  void leave();  // no machine is started from here on

 private:
  bool starts_with_daemon() const;
  void watch();
  void start(const std::string& agent);

  Shared& shared_;
  const store::MachineSettingsFile settings_;
  const std::shared_ptr<Events::Listener> events_;
  const sys::Event leaving_;
  std::atomic<bool> leaves_ = false;
  const bool auto_start_;
};

}  // namespace hutch::server
