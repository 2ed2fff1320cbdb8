// What all connections of a daemon share. Any thread may use it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>

#include "server/workers.h"
#include "service/agents.h"
#include "tool/limiters.h"

namespace hutch::server {

struct Shared {
  service::AgentService& agents;
  tool::Limiters limiters{};
  Workers workers{};
  std::function<void()> stop{};  // ends the daemon
  std::function<void(const std::string& line)> tell{};
  std::atomic<int> connections{0};
  const std::chrono::system_clock::time_point started = std::chrono::system_clock::now();
};

}  // namespace hutch::server
