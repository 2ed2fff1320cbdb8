// The numbers of agents' processes: none is given twice, whatever becomes of the daemon.
#pragma once

#include <cstdint>
#include <mutex>

#include "store/agents.h"

namespace hutch::service {

// They are taken from the database by the block; what a daemon that was killed had left of its block is lost. Any
// thread may use it.
class ProcessNumbers {
 public:
  explicit ProcessNumbers(store::Agents& agents) : agents_(agents) {}
  ~ProcessNumbers();
  ProcessNumbers(const ProcessNumbers&) = delete;
  ProcessNumbers& operator=(const ProcessNumbers&) = delete;

  // Where the database takes nothing (a disk is full), the next one all the same.
  std::uint32_t next();

 private:
  store::Agents& agents_;
  std::mutex mutex_;
  std::uint32_t last_ = 0;
  std::uint32_t until_ = 0;  // the last one that is taken
};

}  // namespace hutch::service
