// The guest as the first process of a virtual machine.
#pragma once

namespace hutch::guest {

// Where it is the kernel's first program: it makes the system of what came with it, then starts a guest for each that
// the host asks for, and carries their streams, until the host has gone. Never returns.
[[noreturn]] void serve_machine();

// The host's side of it: descriptor 0 is the stream that the guest in there is to have, 3 the machine's.
int serve_relay();

}  // namespace hutch::guest
