// Threads for what takes long.
#include "server/workers.h"

#include <memory>
#include <utility>

#include "sys/threads.h"

namespace hutch::server {

void Workers::run(std::function<void()> work) {
  {
    const std::scoped_lock lock(mutex_);
    ++running_;
  }
  // By a pointer: what is to be done is there still where no thread takes it.
  const auto shared = std::make_shared<std::function<void()>>(std::move(work));
  const auto carry_out = [this, shared] {
    (*shared)();
    *shared = {};
    // Under the lock: whoever waits may end this object as soon as it hears.
    const std::scoped_lock lock(mutex_);
    --running_;
    changed_.notify_all();
  };
  auto thread = sys::start_thread(carry_out);
  if (thread) return thread->detach();
  carry_out();
}

bool Workers::wait(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, at_most, [&] { return running_ == 0; });
}

}  // namespace hutch::server
