// What QEMU runs in, and how it is told what the machine is. Nothing is started or looked at.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"

namespace hutch::backend::vm {

struct MachineSize {
  unsigned cpus = 2;
  unsigned memory_mib = 2048;
};
// What the limits of a sandbox make of it: its memory, and as many processors as it takes to use the time that it may
// have. Errors: less than 256 MiB, in which no machine starts, and more than 256 GiB.
Result<MachineSize> machine_size(const plan::ResourceLimits& limits);

// Files of the host's.
struct MachineFiles {
  std::string kernel;
  std::string initramfs;
  std::string system;   // the root file system, a squashfs, which is only read
  std::string changes;  // an ext4 for what is changed of it
};

// A name in the root of the host that QEMU's own files take: a link to below /usr, or, without text, a directory.
struct SystemName {
  std::string path;
  std::string link;
};

inline constexpr const char* kQemu = "/usr/bin/qemu-system-x86_64";

// A sandbox of backend namespace for QEMU alone: its program and libraries, and the machine's files, of which only the
// changes can be written. No network, no home.
plan::SandboxPlan jail_plan(const MachineFiles& files, const std::vector<SystemName>& names, std::uint32_t uid,
                            std::uint32_t gid);

// QEMU's words in there. Its descriptor 0 is the stream to hutch, 1 the machine's console.
std::vector<std::string> qemu_arguments(const MachineSize& size);

}  // namespace hutch::backend::vm
