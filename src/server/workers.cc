// Threads for what takes long.
#include "server/workers.h"

#include <thread>

namespace hutch::server {

void Workers::run(std::function<void()> work) {
  {
    const std::scoped_lock lock(mutex_);
    ++running_;
  }
  std::thread([this, work = std::move(work)]() mutable {
    work();
    work = {};
    // Under the lock: whoever waits may end this object as soon as it hears.
    const std::scoped_lock lock(mutex_);
    --running_;
    changed_.notify_all();
  }).detach();
}

bool Workers::wait(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, at_most, [&] { return running_ == 0; });
}

}  // namespace hutch::server
