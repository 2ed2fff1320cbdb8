// Every process below this one.
#include "guest/descendants.h"

#include <signal.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/text.h"
#include "sys/files.h"
#include "sys/process.h"

namespace hutch::guest {

namespace {

constexpr std::size_t kChildrenBytesMax = 16 << 20;

// The children of one process, by its threads' lists (proc_pid_task_children(5)). A process that is gone has none.
std::vector<pid_t> children_of(pid_t pid) {
  const std::string number = std::to_string(pid);
  const auto text =
      sys::read_file(cat({"/proc/", number, "/task/", number, "/children"}), kChildrenBytesMax);
  std::vector<pid_t> children;
  if (!text) return children;
  for (const std::string_view word : split(*text, ' ')) {
    pid_t child = 0;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), child);
    if (parsed.ec == std::errc() && child > 0) children.push_back(child);
  }
  return children;
}

std::vector<pid_t> all_descendants() {
  std::vector<pid_t> found = children_of(sys::own_pid());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<pid_t> below = children_of(found[i]);
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
    while (TRY(sys::wait_any(sys::Wait::kNow))) {
    }
    TRY(sys::pause_briefly());
  }
}

}  // namespace hutch::guest
