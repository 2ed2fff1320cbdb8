// One loop that waits for many descriptors and moments.
#include "egress/loop.h"

#include <algorithm>
#include <array>

namespace hutch::egress {

namespace {

// How much is done in one step before others of the same thread have their turn.
constexpr std::size_t kEventsMax = 64;

}  // namespace

Result<std::unique_ptr<Loop>> Loop::make() { return std::make_unique<Loop>(TRY(sys::Epoll::make())); }

Loop::Watch& Loop::Watch::operator=(Watch&& other) noexcept {
  if (this == &other) return *this;
  stop();
  loop_ = std::exchange(other.loop_, nullptr);
  fd_ = other.fd_;
  key_ = other.key_;
  interest_ = other.interest_;
  return *this;
}

void Loop::Watch::set(Interest interest) {
  if (loop_ == nullptr || interest == interest_) return;
  interest_ = interest;
  (void)loop_->epoll_.change(fd_, interest, key_);
}

void Loop::Watch::stop() {
  if (loop_ == nullptr) return;
  loop_->epoll_.remove(fd_);
  loop_->watches_.erase(key_);
  loop_ = nullptr;
}

Result<Loop::Watch> Loop::watch(int fd, Interest interest, OnReady on_ready) {
  const std::uint64_t key = ++last_key_;
  TRY(epoll_.add(fd, interest, key));
  watches_.emplace(key, std::make_shared<OnReady>(std::move(on_ready)));
  Watch watch;
  watch.loop_ = this;
  watch.fd_ = fd;
  watch.key_ = key;
  watch.interest_ = interest;
  return watch;
}

Loop::Timer& Loop::Timer::operator=(Timer&& other) noexcept {
  if (this == &other) return *this;
  stop();
  loop_ = std::exchange(other.loop_, nullptr);
  at_moment_ = other.at_moment_;
  key_ = other.key_;
  return *this;
}

void Loop::Timer::stop() {
  if (loop_ == nullptr) return;
  // One that has been called is no longer there, and its place may be another's.
  for (auto [at, end] = loop_->timers_.equal_range(at_moment_); at != end; ++at) {
    if (at->second.first != key_) continue;
    loop_->timers_.erase(at);
    break;
  }
  loop_ = nullptr;
}

Loop::Timer Loop::after(std::chrono::milliseconds wait, std::function<void()> call) {
  Timer timer;
  timer.loop_ = this;
  timer.key_ = ++last_key_;
  timer.at_moment_ = SteadyClock::now() + wait;
  timers_.emplace(timer.at_moment_, std::pair(timer.key_, std::move(call)));
  return timer;
}

std::optional<std::chrono::milliseconds> Loop::time_left() const {
  if (timers_.empty()) return std::nullopt;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first - SteadyClock::now());
  return std::max(left, std::chrono::milliseconds(0));
}

Status Loop::step() {
  std::array<sys::Readiness, kEventsMax> ready;
  const std::size_t count = TRY(epoll_.wait(ready, std::chrono::milliseconds(0)));
  for (std::size_t i = 0; i < count; ++i) {
    // Gone by the call before it, maybe; and what is called may end its own watch.
    const auto found = watches_.find(ready[i].key);
    if (found == watches_.end()) continue;
    const std::shared_ptr<OnReady> on_ready = found->second;
    (*on_ready)(ready[i]);
  }
  const Moment now = SteadyClock::now();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    const auto call = std::move(timers_.begin()->second.second);
    timers_.erase(timers_.begin());
    call();
  }
  return {};
}

}  // namespace hutch::egress
