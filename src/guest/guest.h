// The guest's life: take the plan, apply it, serve commands.
#pragma once

#include "base/unique_fd.h"

namespace hutch::guest {

// kOwnNamespaces: the process goes into namespaces of its own before the plan comes, while the host still makes it.
enum class Entry { kAsStarted, kOwnNamespaces };

// Returns the exit code of the process. Failures are told to the host on the stream.
int serve(UniqueFd stream, Entry entry);

}  // namespace hutch::guest
