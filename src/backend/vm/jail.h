// What QEMU runs in, and how it is told what the machine is. Nothing is started or looked at.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"

namespace hutch::backend::vm {

struct MachineSize {
  unsigned cpus = 2;
  unsigned memory_mib = 2048;
  bool operator==(const MachineSize&) const = default;
};
inline std::uint64_t memory_bytes(const MachineSize& size) { return std::uint64_t{size.memory_mib} << 20; }
// What the limits of a sandbox make of it: its memory, and as many processors as it takes to use the time that it may
// have; `usual` where they say nothing. Errors: less than 256 MiB, in which no machine starts, and more than 256 GiB.
Result<MachineSize> machine_size(const plan::ResourceLimits& limits, const MachineSize& usual = {});

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

// What a machine's processors are: kTcg: QEMU's own, in software; kKvm: this machine's, by /dev/kvm.
enum class Accelerator { kTcg, kKvm };

// A sandbox of backend namespace for QEMU alone: its program and libraries, and the machine's files, of which only the
// changes can be written. No home, and no network but by `gateway`, which takes what the machine's card sends. No
// device of the host's but /dev/kvm, and that where it is what accelerates.
plan::SandboxPlan jail_plan(const MachineFiles& files, const std::vector<SystemName>& names, Accelerator accelerator,
                            std::uint32_t uid, std::uint32_t gid);

// kSaved: it begins where another was when it was saved, with the same devices.
enum class Boot { kFresh, kSaved };

// QEMU's words in there. Its descriptor 0 is the machine's memory, a file of that size, 1 its monitor, 2 the machine's
// console. It does nothing until its monitor says so (machine_devices.h).
std::vector<std::string> qemu_arguments(const MachineSize& size, Accelerator accelerator, Boot boot);

// A port for one device that comes while the machine runs.
std::string port_name(unsigned number);

// Who serves directories: virtiofsd, as it came with QEMU before 8.0, or of a project of its own since.
struct FileServer {
  const char* program;
  enum class Words { kOfQemu, kOwn } words;
};
inline constexpr std::array kFileServers = {FileServer{"/usr/libexec/virtiofsd", FileServer::Words::kOwn},
                                            FileServer{"/usr/lib/virtiofsd", FileServer::Words::kOwn},
                                            FileServer{"/usr/lib/qemu/virtiofsd", FileServer::Words::kOfQemu}};

// Directories of the host's that a machine has, by number: the machine finds them at share_inside(number).
struct SharedDirectory {
  std::string path;  // canonical
  plan::Access access = plan::Access::kReadWrite;
  plan::Identity identity{};
};
std::string share_inside(std::size_t number);

// A sandbox of backend namespace for the file server alone: its program and libraries, and the directories. In there it
// is the machine's user, so that what that user makes belongs to `uid` and `gid` out here, and nobody else's can be
// made. One of QEMU's changes its root to the directories, and gives that right up; the other has no right at all.
plan::SandboxPlan file_server_plan(const FileServer& server, const std::vector<SharedDirectory>& shares,
                                   const std::vector<SystemName>& names, std::uint32_t uid, std::uint32_t gid);

// Its words in there. Its descriptor 0 is a socket that QEMU has connected to.
std::vector<std::string> file_server_arguments(const FileServer& server);

}  // namespace hutch::backend::vm
