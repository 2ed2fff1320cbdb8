// A machine that has started as far as all do, saved: others begin there.
#pragma once

#include <chrono>
#include <string>

#include "backend/backend.h"
#include "backend/vm/vm_backend.h"
#include "base/result.h"

namespace hutch::backend::vm {

// Whether a Linux runs on what `settings` accelerate by: a machine of the least size, which nothing is given, comes as
// far as save_snapshot's first point in `limit`. Code::kTimeout where it does not, kSystem with the machine's or QEMU's
// words.
Status prove(const VmBackend::Settings& settings, std::chrono::seconds limit, Backend& jails,
             const StartOptions& options);

// Starts a machine of the usual size, without directories of the host's, from `settings`. It is saved at both of the
// points at which it waits, memories and disk as sparse files; none of `files` must exist. Code::kTimeout where the
// machine does not come so far, kSystem with QEMU's words where it cannot be saved.
Status save_snapshot(const VmBackend::Settings& settings, const SnapshotFiles& files, Backend& jails,
                     const StartOptions& options);

}  // namespace hutch::backend::vm
