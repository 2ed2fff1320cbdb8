// What a machine is given while it starts, by QEMU's monitor: the stream to its guest, and devices for its ports.
#pragma once

#include <string>

#include "backend/vm/monitor.h"
#include "base/result.h"
#include "wire/machine_start.h"

namespace hutch::backend::vm {

// From where its memory and the state of its devices were saved; its memory is what QEMU was started with.
Status go_on_from(Monitor& qemu, int state);

// One that QEMU was started to hold begins.
Status begin(Monitor& qemu);

// To a machine that waits for it (wire/machine_start.h): this, the time that it is, and random bytes.
Status tell_start(int machine, wire::MachineStart start);

// Its serial port to hutch is this socket from here on. It has to run.
Status connect_guest(Monitor& qemu, int guest);
// And nobody's again.
Status leave_guest(Monitor& qemu);

// Directories of a file server's (vhost-user), and a card. Each fits once.
Status plug_files(Monitor& qemu, int file_server);
Status plug_card(Monitor& qemu);

// Everything but its memory goes to `state`, after which it stands still until it is told to begin.
Status save_state(Monitor& qemu, int state);

}  // namespace hutch::backend::vm
