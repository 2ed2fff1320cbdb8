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
constexpr const char* kServed = "/served";
// What commands are in a machine (guest/machine/machine.cc).
constexpr std::uint32_t kMachineUser = 1000;
constexpr unsigned kPorts = 2;
constexpr std::uint64_t kRootBytes = 1 << 20;
constexpr std::uint64_t kTmpBytes = 64 << 20;

// As QEMU sees it.
std::string inside(std::string_view name) { return cat({kPlace, "/", name}); }

MountStep file(std::string_view name, const std::string& source, Access access) {
  return {
      .kind = MountKind::kBind, .target = inside(name), .source = source, .access = access, .make = MakeTarget::kFile};
}

// Its program and libraries, and nothing else yet; `device` is one of the host's beside the usual ones, or empty.
plan::SandboxPlan plan_for_program(const std::vector<SystemName>& names, const std::string& device = {}) {
  plan::SandboxPlan plan;
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
  plan.mounts.push_back(
      {.kind = MountKind::kDevices, .target = "/dev", .source = device, .make = MakeTarget::kDirectory});
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
  plan.landlock.readable = {"/"};
  plan.landlock.writable = {"/dev", "/tmp"};
  return plan;
}

}  // namespace

plan::SandboxPlan jail_plan(const MachineFiles& files, const std::vector<SystemName>& names, Accelerator accelerator,
                            std::uint32_t uid, std::uint32_t gid) {
  plan::SandboxPlan plan = plan_for_program(names, accelerator == Accelerator::kKvm ? "kvm" : "");
  plan.uid = uid;
  plan.gid = gid;
  plan.hostname = "qemu";
  plan.mounts.push_back({.kind = MountKind::kDirectory, .target = kPlace});
  plan.mounts.push_back(file("kernel", files.kernel, Access::kReadOnly));
  plan.mounts.push_back(file("initramfs", files.initramfs, Access::kReadOnly));
  plan.mounts.push_back(file("system", files.system, Access::kReadOnly));
  plan.mounts.push_back(file("changes", files.changes, Access::kReadWrite));
  // What QEMU asks for the machine.
  plan.mounts.push_back({.kind = MountKind::kDirectory, .target = "/etc"});
  plan.mounts.push_back(
      {.kind = MountKind::kFile, .target = "/etc/resolv.conf", .source = "nameserver 127.0.0.1\n", .mode = 0444});
  plan.mounts.push_back({.kind = MountKind::kSeal, .target = "/"});
  plan.landlock.writable.push_back(inside("changes"));
  return plan;
}

std::string share_inside(std::size_t number) { return cat({"/shares/all/", std::to_string(number)}); }

plan::SandboxPlan file_server_plan(const FileServer& server, const std::vector<SharedDirectory>& shares,
                                   const std::vector<SystemName>& names, std::uint32_t uid, std::uint32_t gid) {
  plan::SandboxPlan plan = plan_for_program(names);
  plan.uid = plan.gid = kMachineUser;
  plan.ids = {.kind = plan::IdMap::Kind::kOne,
              .users = {{.inside = kMachineUser, .outside = uid, .count = 1}},
              .groups = {{.inside = kMachineUser, .outside = gid, .count = 1}},
              .user = kMachineUser,
              .group = kMachineUser};
  if (server.words == FileServer::Words::kOfQemu) plan.rights = plan::Rights::kFileServer;
  plan.hostname = "files";
  plan.mounts.push_back({.kind = MountKind::kDirectory, .target = kServed});
  for (std::size_t number = 0; number < shares.size(); ++number) {
    const SharedDirectory& share = shares[number];
    const std::string target = cat({kServed, "/", std::to_string(number)});
    plan.mounts.push_back({.kind = MountKind::kBind,
                           .target = target,
                           .source = share.path,
                           .access = share.access,
                           .make = MakeTarget::kDirectory,
                           .identity = share.identity});
    if (share.access == Access::kReadWrite) plan.landlock.writable.push_back(target);
  }
  plan.mounts.push_back({.kind = MountKind::kSeal, .target = "/"});
  return plan;
}

std::vector<std::string> file_server_arguments(const FileServer& server) {
  // Whatever it is told it does as the one user that there is in its sandbox: it needs none of the rights that it would
  // keep for serving many.
  static constexpr std::string_view kNoRights =
      "modcaps=-chown:-dac_override:-fowner:-fsetid:-setgid:-setuid:-mknod:-setfcap";
  if (server.words == FileServer::Words::kOfQemu) {
    return {server.program, "--fd=0", "-f", "-o",
            cat({"source=", kServed, ",sandbox=chroot,cache=auto,no_xattr,", kNoRights})};
  }
  // It changes its root for nobody but user 0, whom its sandbox has not: what is around the directories is the sandbox,
  // in which there is nothing else. More open files it may not allow itself.
  return {server.program,      "--fd=0",           cat({"--shared-dir=", kServed}),
          "--sandbox=none",    "--cache=auto",     cat({"--", kNoRights}),
          "--rlimit-nofile=0", "--log-level=error"};
}

Result<MachineSize> machine_size(const plan::ResourceLimits& limits, const MachineSize& usual) {
  static constexpr std::uint64_t kMemoryMin = 256;
  static constexpr std::uint64_t kMemoryMax = 256 << 10;
  static constexpr std::uint64_t kProcessorsMax = 8;
  MachineSize size = usual;
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

std::string port_name(unsigned number) { return cat({"port", std::to_string(number)}); }

std::vector<std::string> qemu_arguments(const MachineSize& size, Accelerator accelerator, Boot boot) {
  const bool kvm = accelerator == Accelerator::kKvm;
  const auto disk = [](std::string_view name, std::string_view slot, std::string_view how) {
    return std::vector<std::string>{"-drive", cat({"if=none,id=", name, ",format=raw,file=", inside(name), how}),
                                    "-device", cat({"virtio-blk-pci,drive=", name, ",addr=", slot})};
  };
  const std::string mebibytes = cat({std::to_string(size.memory_mib), "M"});
  std::vector<std::string> words = {
      kQemu, "-name", "hutch", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
      // What its processor has is what accelerates it: all of this machine's, or all that QEMU can do, but for
      // ERMS: where that is said a kernel clears and copies pages a byte at a time, which in software was a sixth of a
      // boot. A file server maps the machine's memory (vhost-user): others share it.
      "-M", cat({"q35,accel=", kvm ? "kvm" : "tcg", ",memory-backend=memory"}), "-object",
      cat({"memory-backend-file,id=memory,share=on,mem-path=/dev/fd/0,size=", mebibytes}), "-cpu",
      kvm ? "host" : "max,-erms", "-smp", std::to_string(size.cpus), "-m", mebibytes,
      // A fault in it meets QEMU's own filter, then that of the jail.
      "-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny", "-kernel",
      inside("kernel"), "-initrd", inside("initramfs"), "-append",
      // The kernel tries each of its ciphers at its start, which takes a tenth of that in software.
      "console=ttyS0 quiet panic=-1 cryptomgr.notests rdinit=/init", "-serial", "file:/dev/fd/2", "-chardev",
      "null,id=hutch", "-device", "virtio-serial-pci,max_ports=2", "-device", "virtserialport,chardev=hutch,name=hutch",
      "-device", "virtio-rng-pci", "-chardev", "socket,id=monitor,fd=1", "-mon", "chardev=monitor,mode=control"};
  const auto add = [&](const std::vector<std::string>& more) { words.insert(words.end(), more.begin(), more.end()); };
  add(disk("system", "4", ",read-only=on"));
  // A disk of this machine's that is full stops nothing: it is an error of the machine's disk.
  add(disk("changes", "5", ",discard=unmap,werror=report"));
  for (unsigned i = 0; i < kPorts; ++i) {
    const std::string number = std::to_string(i + 1);
    add({"-device", cat({"pcie-root-port,id=", port_name(i), ",chassis=", number, ",slot=", number})});
  }
  if (boot == Boot::kSaved) add({"-incoming", "defer"});
  if (boot == Boot::kFresh) add({"-S"});
  return words;
}

}  // namespace hutch::backend::vm
