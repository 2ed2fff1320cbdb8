// Signals as descriptors: signalfd(2), sigprocmask(2).
#pragma once

#include <initializer_list>
#include <optional>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::sys {

// Blocks the signals and reports them on a non-blocking descriptor from now on.
Result<UniqueFd> signal_descriptor(std::initializer_list<int> signals);

// They have their effect again. One that came meanwhile, and that nobody read from the descriptor, has it now.
void unblock_signals(std::initializer_list<int> signals);

// Blocks every signal that can be, so that none finds a handler or a default to run.
Status block_all_signals();

// Every signal at its default and none blocked: what a program expects when it starts.
Status reset_signals();

// Writing to a closed pipe is an error, not a death.
Status ignore_broken_pipe();

// As long as it lives, writing to a closed pipe is an error of the call in this thread, and no signal is left behind.
class BrokenPipeHeld {
 public:
  BrokenPipeHeld();
  ~BrokenPipeHeld();
  BrokenPipeHeld(const BrokenPipeHeld&) = delete;
  BrokenPipeHeld& operator=(const BrokenPipeHeld&) = delete;

 private:
  bool holds_ = false;
  bool was_blocked_ = false;
};

struct Arrived {
  int signal = 0;
  int sender = 0;   // its pid, 0 for the kernel
};
// The next signal that waits on the descriptor.
Result<std::optional<Arrived>> next_signal(int descriptor);

// Whether SIGTERM, SIGINT, SIGHUP or SIGQUIT waits for this process, which blocks it (sigpending(2)).
bool is_told_to_end();
// Has the signal, which this process blocks and has taken from a descriptor, wait again for is_told_to_end().
void keep_told(int signal);

// This process ends by the signal, as one would that had not blocked it. Returns where that does not end it.
void end_by(int signal);

// This process stops itself as the default of `signal` would, until it is continued. Its parent sees the stop.
Status stop_self();

}  // namespace hutch::sys
