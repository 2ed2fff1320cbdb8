// Processes by their descent.
#include "guest/descendants.h"

#include <signal.h>

#include <set>
#include <vector>

#include "sys/process/process.h"

namespace hutch::guest {

namespace {

// Rounds of looking for processes that were started in between: more than any program can win, if its start can be
// stopped at all.
constexpr int kScanRoundsMax = 1000;

std::vector<pid_t> descendants_of(pid_t root) {
  std::vector<pid_t> found = sys::children_of(root);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<pid_t> below = sys::children_of(found[i]);
    found.insert(found.end(), below.begin(), below.end());
  }
  return found;
}

std::vector<pid_t> all_descendants() { return descendants_of(sys::own_pid()); }

// One that is over can start nothing.
std::vector<pid_t> living_descendants_of(pid_t root) {
  std::vector<pid_t> found = descendants_of(root);
  std::erase_if(found, [](pid_t pid) { return sys::is_over(pid); });
  return found;
}

}  // namespace

Status signal_descendants(int number) {
  for (const pid_t pid : all_descendants()) TRY(sys::send_signal(pid, number));
  return {};
}

Status kill_descendants() {
  for (;;) {
    if (!TRY(sys::has_children())) return {};
    const std::vector<pid_t> left = all_descendants();
    // There are too few descriptors to look with. A process of the same user can cause that by prlimit(2).
    if (left.empty()) return fail(Error{Code::kSystem, 0, "what hutch-guest has started cannot be seen"});
    // Stopped first, all of them, so that none forks while the others are being killed.
    for (const pid_t pid : left) (void)sys::send_signal(pid, SIGSTOP);
    for (const pid_t pid : left) (void)sys::send_signal(pid, SIGKILL);
    while (TRY(sys::wait_any(sys::Wait::kNow))) {}
    TRY(sys::pause_briefly());
  }
}

Status signal_tree(pid_t root, pid_t group, int number) {
  std::vector<pid_t> tree = descendants_of(root);
  tree.push_back(root);
  TRY(sys::send_signal(-group, number));
  for (const pid_t pid : tree) {
    const pid_t own = sys::process_group_of(pid);
    if (own >= 0 && own != group) TRY(sys::send_signal(pid, number));
  }
  return {};
}

void look_at_tree(pid_t root, std::vector<pid_t>& tree) {
  std::set<pid_t> seen(tree.begin(), tree.end());
  std::vector<pid_t> look = tree;
  look.push_back(root);
  for (const pid_t known : look) {
    for (const pid_t below : living_descendants_of(known)) {
      if (seen.insert(below).second) tree.push_back(below);
    }
  }
}

Status kill_remains(std::vector<pid_t> tree) {
  for (int round = 0; round < kScanRoundsMax; ++round) {
    // A number whose process is gone may be another's by now, but not one of this sandbox's orphans: those are waited
    // for by this process alone, after this.
    const std::vector<pid_t> all = all_descendants();
    const std::set<pid_t> living(all.begin(), all.end());
    std::erase_if(tree, [&](pid_t pid) { return !living.contains(pid) || sys::is_over(pid); });
    if (tree.empty()) return {};
    look_at_tree(tree.front(), tree);
    for (const pid_t pid : tree) (void)sys::send_signal(pid, SIGSTOP);
    look_at_tree(tree.front(), tree);
    for (const pid_t pid : tree) (void)sys::send_signal(pid, SIGKILL);
    TRY(sys::pause_briefly());
  }
  return {};
}

Status kill_tree(pid_t root) {
  // The root is stopped and not killed, for its orphans would then be the init's and could not be told from others'.
  TRY(sys::send_signal(root, SIGSTOP));
  for (int round = 0; round < kScanRoundsMax; ++round) {
    const std::vector<pid_t> left = living_descendants_of(root);
    if (left.empty()) break;
    for (const pid_t pid : left) (void)sys::send_signal(pid, SIGSTOP);
    for (const pid_t pid : left) (void)sys::send_signal(pid, SIGKILL);
    TRY(sys::pause_briefly());
  }
  return sys::send_signal(root, SIGKILL);
}

}  // namespace hutch::guest
