// Backend `vm`: another kernel, in QEMU, which runs in a sandbox of backend namespace itself.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/vm/jail.h"

namespace hutch::backend::vm {

// What save_snapshot makes.
struct SnapshotFiles {
  // A machine that waits (wire/machine_start.h).
  struct Point {
    std::string memory{};
    std::string state{};  // of its devices
  };
  std::string initramfs{};  // from which it booted
  Point early{};            // it has not looked at its disks
  Point rooted{};           // it has its root,
  std::string changes{};    // and what it has changed there is on this disk
};

// A machine for each sandbox. Its guest speaks over a serial port of the machine's: hutch-guest --relay carries its
// stream, and the descriptors that travel with it, across.
class VmBackend final : public Backend {
 public:
  struct Settings {
    std::string kernel{};
    std::string system{};
    std::vector<std::string> modules{};  // files, in the order in which the kernel is to have them
    Accelerator accelerator = Accelerator::kTcg;
    MachineSize usual{};                 // where the limits of a sandbox say nothing; that of the saved machine
    std::string directory{};             // of hutch's own data: what a machine writes goes into one of its own below
    std::vector<plan::bpf::Instruction> filter{};  // of system calls, for QEMU
    std::vector<plan::bpf::Instruction> file_server_filter{};
    // The limits of the QEMU process, as every sandbox has: a machine that takes QEMU over cannot use up what the
    // kernel counts for the whole user.
    std::vector<plan::ProcessLimit> process_limits{};
    std::vector<plan::UserCount> user_counts{};
    // Where machines of the usual size begin, saved by one of the same accelerator; absent: all boot.
    std::optional<SnapshotFiles> snapshot{};
  };
  // `jails` starts what QEMU runs in.
  VmBackend(Settings settings, std::unique_ptr<Backend> jails)
      : settings_(std::move(settings)), jails_(std::move(jails)) {}

  std::string_view name() const override { return "vm"; }
  Guarantees guarantees() const override;
  Result<Instance> start(const plan::SandboxPlan& plan, const StartOptions& options) override;

 private:
  const Settings settings_;
  const std::unique_ptr<Backend> jails_;
};

}  // namespace hutch::backend::vm
