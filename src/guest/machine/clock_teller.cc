// When a machine is told what time it is.
#include "guest/machine/clock_teller.h"

#include <cstdlib>

namespace hutch::guest {

namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kDrift = 100 * kMillisecond;
constexpr std::int64_t kAgain = 10'000 * kMillisecond;
constexpr std::int64_t kLate = 500 * kMillisecond;
constexpr std::int64_t kBefore = 2'000 * kMillisecond;

template <class Clock>
std::int64_t now_of() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

}  // namespace

ClockTeller::Now ClockTeller::Now::read() {
  return {now_of<std::chrono::system_clock>(), now_of<std::chrono::steady_clock>()};
}

bool ClockTeller::is_due(Now now) const {
  if (is_waiting_) return false;
  const std::int64_t apart = (now.wall - now.monotonic) - (told_.wall - told_.monotonic);
  return was_late_ || std::llabs(apart) > kDrift || now.monotonic - told_.monotonic >= kAgain;
}

void ClockTeller::tell(Now now) {
  told_ = now;
  is_waiting_ = true;
  was_late_ = false;
}

bool ClockTeller::hear(Now now) {
  if (!is_waiting_) return false;
  is_waiting_ = false;
  // By the one that goes on while this machine is suspended.
  was_late_ = now.wall - told_.wall > kLate || now.monotonic - told_.monotonic > kLate;
  return true;
}

std::optional<std::int64_t> clock_to_set(std::int64_t own, std::int64_t told) {
  const bool is_behind = told - own > kDrift;
  const bool is_before = own - told > kBefore;
  return is_behind || is_before ? std::optional(told) : std::nullopt;
}

}  // namespace hutch::guest
