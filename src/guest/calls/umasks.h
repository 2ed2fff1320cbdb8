// The file-creation masks of callers.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::guest {

// /proc/PID/status, the one place that tells a mask, is dear to make. What it said of a process of one thread holds
// until that process ends or calls umask(2), which is why that call is asked about as well.
class Umasks {
 public:
  // This process's mask becomes the caller's. `proc` is a proc(5) that knows the caller.
  Status take(int proc, pid_t caller);
  // It becomes 0.
  void take_none() { set(0); }

  mode_t own() const { return own_.value_or(kUsualMask); }  // of this process

  void forget() { known_.clear(); }
  // The ends of processes, which are to be noticed before the next call is looked at: their numbers are free then.
  void add_to(std::vector<pollfd>& wait) const;
  void forget_ended(std::span<const pollfd> ended);

 private:
  static constexpr std::size_t kKept = 8;
  static constexpr mode_t kUsualMask = 022;

  struct Known {
    pid_t process = -1;
    UniqueFd pidfd;
    mode_t mask = 0;
  };
  Result<mode_t> of(int proc, pid_t caller);
  void set(mode_t mask);

  std::vector<Known> known_;
  std::optional<mode_t> own_;  // of this process; not known before the first one
};

}  // namespace hutch::guest
