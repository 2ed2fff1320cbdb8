// Those who wait for the start of a sandbox that stays, on threads of their own.
#include <algorithm>

#include "base/text.h"
#include "service/live/kept_sandbox.h"
#include "sys/process/threads.h"

namespace hutch::service {

Result<std::shared_ptr<sandbox::Resident>> KeptSandbox::resident(const std::stop_token& gone) {
  std::unique_lock lock(mutex_);
  if (status_.state == LifeState::kRunning && resident_->is_alive()) return resident_;
  ++waiting_;
  const auto ready = await_starter(lock, std::chrono::steady_clock::time_point::max(), gone);
  --waiting_;
  if (ready && *ready == Ready::kYes) {
    lock.unlock();
    return resident();
  }
  if (!ready) return fail(ready.error());
  if (waiting_ == 0 && !goes_on_ && starter_state_ == Starter::kAtWork) {
    is_left_ = true;
    if (status_.state == LifeState::kStarting) starting_.request_stop();
  }
  return fail({Code::kConflict, 0, cat({"start ", settings_.what, ": the client has gone"})});
}

Result<KeptSandbox::Ready> KeptSandbox::await(std::chrono::steady_clock::time_point until,
                                              const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  ++waiting_;
  auto ready = await_starter(lock, until, stop);
  --waiting_;
  if (ready && *ready == Ready::kNotYet) goes_on_ = true;
  return ready;
}

// Whoever comes while a start that was left ends has another.
Result<KeptSandbox::Ready> KeptSandbox::await_starter(std::unique_lock<std::mutex>& lock,
                                                      std::chrono::steady_clock::time_point until,
                                                      const std::stop_token& stop) {
  static constexpr std::chrono::milliseconds kSlice{50};
  const unsigned stops = stops_;
  for (;;) {
    if (status_.state == LifeState::kRunning) return Ready::kYes;
    if (starter_state_ == Starter::kIdle) TRY(begin_starter());
    while (starter_state_ == Starter::kAtWork) {
      const auto now = std::chrono::steady_clock::now();
      if (now >= until || stop.stop_requested()) return Ready::kNotYet;
      changed_.wait_until(lock, std::min(until, now + kSlice));
    }
    if (!starter_error_) return Ready::kYes;
    if (!is_left_ || stops != stops_) return fail(*starter_error_);
  }
}

hutch::Status KeptSandbox::begin_starter() {
  if (starter_.joinable()) starter_.join();
  starter_ = TRY(sys::start_thread([this] {
    auto started = started_or_start();
    const std::scoped_lock done(mutex_);
    starter_error_ = started ? std::nullopt : std::optional(std::move(started).error());
    starter_state_ = Starter::kIdle;
    changed_.notify_all();
  }));
  starter_state_ = Starter::kAtWork;
  goes_on_ = false;
  is_left_ = false;
  return {};
}

}  // namespace hutch::service
