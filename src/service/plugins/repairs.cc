// What could not be undone at once is tried again.
#include "service/plugins/repairs.h"

#include <algorithm>
#include <utility>

#include "sys/process/threads.h"

namespace hutch::service {

PluginRepairs::~PluginRepairs() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  stop_.request_stop();
  if (thread_) thread_->join();
}

// Without a thread for it the next start of the daemon does it, as it does what is left at its end.
void PluginRepairs::add(const std::string& agent) {
  const std::scoped_lock lock(mutex_);
  if (ending_) return;
  due_.insert_or_assign(agent, Due{Clock::now() + first_, first_});
  if (!thread_) {
    auto thread = sys::start_thread([this] { work(); });
    if (thread) thread_ = std::move(*thread);
  }
  changed_.notify_all();
}

std::map<std::string, PluginRepairs::Due>::iterator PluginRepairs::next() {
  return std::ranges::min_element(due_, {}, [](const auto& one) { return one.second.at; });
}

void PluginRepairs::work() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    const auto first = next();
    if (first == due_.end()) {
      changed_.wait(lock);
      continue;
    }
    // It may change while it is waited for: what is next is looked for anew.
    const Clock::time_point at = first->second.at;
    if (Clock::now() < at) {
      changed_.wait_until(lock, at);
      continue;
    }
    const std::string agent = first->first;
    const auto pause = std::min<std::chrono::milliseconds>(2 * first->second.pause, kLongest);
    due_.erase(first);
    lock.unlock();
    const bool is_whole = repair_(agent, stop_.get_token());
    lock.lock();
    // Where it was added meanwhile that holds.
    if (!is_whole) due_.try_emplace(agent, Due{Clock::now() + pause, pause});
  }
}

}  // namespace hutch::service
