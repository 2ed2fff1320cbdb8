// Every process below this one, where no pid namespace holds them together.
#pragma once

#include "base/result.h"

namespace hutch::guest {

// Sends a signal to all of them once.
Status signal_descendants(int number);

// Kills them until none is left. The caller is their subreaper, so none can leave the tree.
Status kill_descendants();

}  // namespace hutch::guest
