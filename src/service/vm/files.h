// What a virtual machine is started from: a kernel with its modules and the file system of its root, made once.
#pragma once

#include <optional>
#include <string>

#include "backend/vm/vm_backend.h"
#include "base/result.h"
#include "plan/facts.h"
#include "service/image/images.h"
#include "service/vm/kvm.h"

namespace hutch::service {

struct VmProvisionRequest {
  // A package of the machine's package manager, or with a "/" the path of a bzImage; empty: Debian's for the cloud.
  std::string kernel{};
  std::string root{};     // an archive of a root file system, a path or "-"; empty: the default image's
  std::string modules{};  // of a kernel that is a path: a directory (service/vm/kernel.h)
};

// Errors: programs that are missing, what they say, an archive that is none, a kernel that is none. What was there
// before stays until all of the new is. What is whole when it fails, or is killed, is taken by the next one.
Status provision_vm(const VmProvisionRequest& request, const plan::HostFacts& facts, const TellImage& tell);

// Saves a machine anew where the one that was saved is of another size than is configured, of another accelerator, or
// another hutch's or QEMU's; whether KVM works is tried first where that was never tried as everything is now.
// Code::kUnsupported where nothing is provisioned.
Status refresh_vm(const plan::HostFacts& facts, const TellImage& tell);

// By which what is there was provisioned.
Result<VmProvisionRequest> last_vm_request(const plan::HostFacts& facts);

struct VmStatus {
  bool provisioned = false;
  std::string kernel{};    // its release
  std::string made{};      // in local time
  std::uint64_t bytes = 0;  // of the root file system, compressed
  bool snapshot = false;    // of a machine that has started, and from which others begin
  Acceleration acceleration{};
  std::string directory{};
};
// The checksum of its system.
Result<std::string> vm_system(const plan::HostFacts& facts);
Result<VmStatus> vm_status(const plan::HostFacts& facts);

// Kernel, modules and root. Nothing there is fine.
Status remove_vm(const plan::HostFacts& facts);

// How a machine is started here. Code::kUnsupported with the remedy where nothing is provisioned or a program is
// missing; kConflict where a file is another than was provisioned.
Result<backend::vm::VmBackend::Settings> vm_settings(const plan::HostFacts& facts);

}  // namespace hutch::service
