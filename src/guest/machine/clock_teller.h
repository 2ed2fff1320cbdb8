// When a machine is told what time it is: where this one was suspended, or its clock was set, the machine's is wrong.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace hutch::guest {

// Pure; times are in nanoseconds.
class ClockTeller {
 public:
  struct Now {
    std::int64_t wall = 0;       // since the epoch
    std::int64_t monotonic = 0;  // CLOCK_MONOTONIC, which stands still while this machine is suspended
    static Now read();
  };
  // So often is_due is to be asked.
  static constexpr std::chrono::milliseconds kCheck{1000};

  // At first, since what a machine is told before it starts is as old as its start is long. Then: it has not been told
  // since the wall clock went another way than the other one, or for ten seconds, in which the machine itself may have
  // stood still, and has heard what it was told before.
  bool is_due(Now now) const;
  void tell(Now now);
  // The machine has heard it; false where it was told nothing. What it heard late was the time no more: it is due anew.
  bool hear(Now now);

 private:
  Now told_{};
  bool is_waiting_ = false;
  bool was_late_ = true;
};

// What a machine's clock, which is at `own`, is set to when it hears `told`; absent: it goes on. What it hears is at
// most late: a clock that is behind it is wrong, one before it only where that is more than anything takes on the way.
std::optional<std::int64_t> clock_to_set(std::int64_t own, std::int64_t told);

}  // namespace hutch::guest
