// Showing more, or less, of the host's files in a sandbox that runs.
#pragma once

#include "base/unique_fd.h"

namespace hutch::guest {

// The life of `hutch-guest --widen`, for one wire::Widen, Cover or Uncover, which comes on descriptor 0. Descriptors 3
// and 4 are the sandbox's user and mount namespaces.
//
// A process of the sandbox's user namespace that has a copy of the host's tree of mounts of its own makes mounts there
// as the guest did at the start, with what has to stay hidden covered; a copy of the result, which belongs to no tree,
// is then attached in the sandbox, or handed over (open_tree(2), move_mount(2)). Hiding is guest/setup/hide.h.
int widen(UniqueFd stream);

}  // namespace hutch::guest
