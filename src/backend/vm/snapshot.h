// A machine that has started as far as all do, saved: others begin there.
#pragma once

#include <string>

#include "backend/backend.h"
#include "backend/vm/vm_backend.h"
#include "base/result.h"

namespace hutch::backend::vm {

// Starts a machine of the usual size, without directories of the host's, from `settings`; the guest stops before it
// looks at a disk. Its memory is written to `files.memory`, a sparse file, its devices to `files.state`, and what it
// booted from to `files.initramfs`; none of them must exist. Code::kTimeout where the machine does not come so far,
// kSystem with QEMU's words where it cannot be saved.
Status save_snapshot(const VmBackend::Settings& settings, const SnapshotFiles& files, Backend& jails,
                     const StartOptions& options);

}  // namespace hutch::backend::vm
