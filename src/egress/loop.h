// One loop that waits for many descriptors and moments; everything of the gateway is called from it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

#include "base/result.h"
#include "sys/process/readiness.h"

namespace hutch::egress {

using SteadyClock = std::chrono::steady_clock;
using Moment = SteadyClock::time_point;

class Loop {
 public:
  using Interest = sys::Epoll::Interest;
  using OnReady = std::function<void(const sys::Readiness&)>;

  static Result<std::unique_ptr<Loop>> make();
  explicit Loop(sys::Epoll epoll) : epoll_(std::move(epoll)) {}

  // A descriptor that is waited for as long as this lives. It must live no longer than the descriptor and the loop.
  class Watch {
   public:
    Watch() = default;
    Watch(Watch&& other) noexcept { *this = std::move(other); }
    Watch& operator=(Watch&& other) noexcept;
    ~Watch() { stop(); }
    void set(Interest interest);
    void stop();
    explicit operator bool() const { return loop_ != nullptr; }

   private:
    friend class Loop;
    Loop* loop_ = nullptr;
    int fd_ = -1;
    std::uint64_t key_ = 0;
    Interest interest_;
  };
  Result<Watch> watch(int fd, Interest interest, OnReady on_ready);

  // A call at a moment, unless this goes before.
  class Timer {
   public:
    Timer() = default;
    Timer(Timer&& other) noexcept { *this = std::move(other); }
    Timer& operator=(Timer&& other) noexcept;
    ~Timer() { stop(); }
    void stop();

   private:
    friend class Loop;
    Loop* loop_ = nullptr;
    Moment at_moment_;
    std::uint64_t key_ = 0;
  };
  Timer after(std::chrono::milliseconds wait, std::function<void()> call);

  // Readable while there is something to do but for the timers.
  int fd() const { return epoll_.fd(); }
  // How long the next step can wait; absent when there is no timer.
  std::optional<std::chrono::milliseconds> time_left() const;

  // Does what there is to do now.
  Status step();

 private:
  sys::Epoll epoll_;
  std::uint64_t last_key_ = 0;
  std::unordered_map<std::uint64_t, std::shared_ptr<OnReady>> watches_;
  std::multimap<Moment, std::pair<std::uint64_t, std::function<void()>>> timers_;
};

}  // namespace hutch::egress
