// What QEMU runs in, and how it is told what the machine is.
#include "backend/vm/jail.h"

#include <algorithm>

#include "base/text.h"

namespace hutch::backend::vm {

namespace {

using plan::Access;
using plan::MakeTarget;
using plan::MountKind;
using plan::MountStep;

constexpr const char* kPlace = "/vm";
constexpr std::uint64_t kRootBytes = 1 << 20;
constexpr std::uint64_t kTmpBytes = 64 << 20;

// As QEMU sees it.
std::string inside(std::string_view name) { return cat({kPlace, "/", name}); }

MountStep file(std::string_view name, const std::string& source, Access access) {
  return {
      .kind = MountKind::kBind, .target = inside(name), .source = source, .access = access, .make = MakeTarget::kFile};
}

}  // namespace

plan::SandboxPlan jail_plan(const MachineFiles& files, const std::vector<SystemName>& names, std::uint32_t uid,
                            std::uint32_t gid) {
  plan::SandboxPlan plan;
  plan.uid = uid;
  plan.gid = gid;
  plan.hostname = "qemu";
  plan.cwd = "/";
  plan.environment = {"PATH=/usr/bin", "HOME=/", "LC_ALL=C.UTF-8"};
  plan.mounts = {{.kind = MountKind::kTmpfs, .target = "/", .size_bytes = kRootBytes},
                 {.kind = MountKind::kBind, .target = "/usr", .source = "/usr", .make = MakeTarget::kDirectory}};
  for (const SystemName& name : names) {
    plan.mounts.push_back(name.link.empty()
                              ? MountStep{.kind = MountKind::kBind,
                                          .target = name.path,
                                          .source = name.path,
                                          .make = MakeTarget::kDirectory}
                              : MountStep{.kind = MountKind::kSymlink, .target = name.path, .source = name.link});
  }
  plan.mounts.push_back({.kind = MountKind::kDevices, .target = "/dev", .make = MakeTarget::kDirectory});
  plan.mounts.push_back({.kind = MountKind::kTmpfs,
                         .target = "/dev/shm",
                         .make = MakeTarget::kDirectory,
                         .mode = 01777,
                         .size_bytes = kTmpBytes});
  plan.mounts.push_back({.kind = MountKind::kSeal, .target = "/dev"});
  plan.mounts.push_back({.kind = MountKind::kProc, .target = "/proc", .make = MakeTarget::kDirectory});
  plan.mounts.push_back({.kind = MountKind::kTmpfs,
                         .target = "/tmp",
                         .make = MakeTarget::kDirectory,
                         .mode = 01777,
                         .size_bytes = kTmpBytes});
  plan.mounts.push_back({.kind = MountKind::kDirectory, .target = kPlace});
  plan.mounts.push_back(file("kernel", files.kernel, Access::kReadOnly));
  plan.mounts.push_back(file("initramfs", files.initramfs, Access::kReadOnly));
  plan.mounts.push_back(file("system", files.system, Access::kReadOnly));
  plan.mounts.push_back(file("changes", files.changes, Access::kReadWrite));
  plan.mounts.push_back({.kind = MountKind::kSeal, .target = "/"});
  plan.landlock.readable = {"/"};
  plan.landlock.writable = {"/dev", "/tmp", inside("changes")};
  return plan;
}

Result<MachineSize> machine_size(const plan::ResourceLimits& limits) {
  static constexpr std::uint64_t kMemoryMin = 256;
  static constexpr std::uint64_t kMemoryMax = 256 << 10;
  static constexpr std::uint64_t kProcessorsMax = 8;
  MachineSize size;
  if (limits.memory_bytes != 0) {
    const std::uint64_t wanted = limits.memory_bytes >> 20;
    if (wanted < kMemoryMin || wanted > kMemoryMax) {
      return fail(Error::unsupported("limit memory: backend vm: it is that of the machine, from 256M to 256G"));
    }
    size.memory_mib = static_cast<unsigned>(wanted);
  }
  if (limits.cpu_millis != 0) {
    size.cpus = static_cast<unsigned>(std::min((limits.cpu_millis + 999) / 1000, kProcessorsMax));
  }
  return size;
}

std::vector<std::string> qemu_arguments(const MachineSize& size) {
  const auto disk = [](std::string_view name, std::string_view slot, std::string_view how) {
    return std::vector<std::string>{"-drive", cat({"if=none,id=", name, ",format=raw,file=", inside(name), how}),
                                    "-device", cat({"virtio-blk-pci,drive=", name, ",addr=", slot})};
  };
  std::vector<std::string> words = {
      kQemu, "-name", "hutch", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
      // Without an accelerator; what its processor has is what QEMU can do.
      "-M", "q35,accel=tcg", "-cpu", "max", "-smp", std::to_string(size.cpus), "-m",
      cat({std::to_string(size.memory_mib), "M"}),
      // A fault in it meets QEMU's own filter, then that of the jail.
      "-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny", "-kernel",
      inside("kernel"), "-initrd", inside("initramfs"), "-append", "console=ttyS0 quiet panic=-1 rdinit=/init",
      "-serial", "file:/dev/fd/1", "-chardev", "socket,id=hutch,fd=0", "-device", "virtio-serial-pci,max_ports=2",
      "-device", "virtserialport,chardev=hutch,name=hutch", "-device", "virtio-rng-pci"};
  for (const auto& one : {disk("system", "4", ",read-only=on"), disk("changes", "5", ",discard=unmap")}) {
    words.insert(words.end(), one.begin(), one.end());
  }
  return words;
}

}  // namespace hutch::backend::vm
