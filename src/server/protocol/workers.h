// Threads for what takes long and nobody waits for in line: counted, so that the daemon can wait for the last of them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>

namespace hutch::server {

class Workers {
 public:
  // On a thread of its own; where the machine has none more, before this returns.
  void run(std::function<void()> work);
  // The same, but false, and nothing is done, where the machine has none more.
  bool try_run(std::function<void()> work);
  // False when some still run by then.
  bool wait(std::chrono::milliseconds at_most);

 private:
  void carry_out(std::function<void()> work);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t running_ = 0;
};

}  // namespace hutch::server
