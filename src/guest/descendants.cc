// Every process below this one.
#include "guest/descendants.h"

#include <signal.h>

#include <vector>

#include "sys/process.h"

namespace hutch::guest {

namespace {

std::vector<pid_t> all_descendants() {
  std::vector<pid_t> found = sys::children_of(sys::own_pid());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<pid_t> below = sys::children_of(found[i]);
    found.insert(found.end(), below.begin(), below.end());
  }
  return found;
}

}  // namespace

Status signal_descendants(int number) {
  for (const pid_t pid : all_descendants()) TRY(sys::send_signal(pid, number));
  return {};
}

Status kill_descendants() {
  for (;;) {
    const std::vector<pid_t> left = all_descendants();
    if (left.empty()) return {};
    // Stopped first, all of them, so that none forks while the others are being killed.
    for (const pid_t pid : left) (void)sys::send_signal(pid, SIGSTOP);
    for (const pid_t pid : left) (void)sys::send_signal(pid, SIGKILL);
    while (TRY(sys::wait_any(sys::Wait::kNow))) {}
    TRY(sys::pause_briefly());
  }
}

}  // namespace hutch::guest
