// Whether this machine lets a place be made at all: what `hutch doctor` asks.
#pragma once

namespace hutch::guest {

// Makes the namespaces and a root with nothing but /proc and /dev in it, in a child, and goes. Returns the exit code:
// 0 when that works, else 1 after a line on standard error that names the call.
int probe();

}  // namespace hutch::guest
