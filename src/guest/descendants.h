// Processes by their descent: all below this one where no pid namespace holds them together, and those of one command.
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/result.h"

namespace hutch::guest {

// Sends a signal to all of them once.
Status signal_descendants(int number);

// Kills them until none is left. The caller is their subreaper, so none can leave the tree.
Status kill_descendants();

// Sends a signal to a process, its process group and all below it. The group's are told in one step, so that none of
// them can start another one meanwhile that is not told (kill(2); fork fails where a signal waits).
Status signal_tree(pid_t root, pid_t group, int number);

// Kills a child of this process and all below it, the child last: being their subreaper it holds them together until
// then. What remains of the child is for the caller to reap.
Status kill_tree(pid_t root);

// Adds to `tree` what the processes in it, and `root`, have started and what lives: all of it can be found as long as
// it is looked at often enough, whoever adopts the orphans.
void look_at_tree(pid_t root, std::vector<pid_t>& tree);

// Kills those of `tree` that are still below this process, and all that they start.
Status kill_remains(std::vector<pid_t> tree);

}  // namespace hutch::guest
