// Threads for what takes long.
#include "server/protocol/workers.h"

#include <memory>
#include <utility>

#include "sys/process/threads.h"

namespace hutch::server {

void Workers::run(std::function<void()> work) {
  // By a pointer: what is to be done is there still where no thread takes it.
  const auto shared = std::make_shared<std::function<void()>>(std::move(work));
  const auto once = [shared] {
    (*shared)();
    *shared = {};
  };
  if (try_run(once)) return;
  {
    const std::scoped_lock lock(mutex_);
    ++running_;
  }
  carry_out(once);
}

bool Workers::try_run(std::function<void()> work) {
  {
    const std::scoped_lock lock(mutex_);
    ++running_;
  }
  auto thread = sys::start_thread([this, own = std::move(work)]() mutable { carry_out(std::move(own)); });
  if (thread) {
    thread->detach();
    return true;
  }
  const std::scoped_lock lock(mutex_);
  --running_;
  changed_.notify_all();
  return false;
}

void Workers::carry_out(std::function<void()> work) {
  work();
  work = {};
  // Under the lock: whoever waits may end this object as soon as it hears.
  const std::scoped_lock lock(mutex_);
  --running_;
  changed_.notify_all();
}

bool Workers::wait(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, at_most, [&] { return running_ == 0; });
}

}  // namespace hutch::server
