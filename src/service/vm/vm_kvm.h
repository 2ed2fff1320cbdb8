// Whether KVM works here: looked at, tried by a machine, and kept.
#pragma once

#include <optional>
#include <string>

#include "backend/backend.h"
#include "backend/vm/vm_backend.h"
#include "base/result.h"
#include "plan/facts.h"
#include "service/vm/kvm.h"

namespace hutch::service {

// Starts nothing. Of no machine's files but QEMU's and /dev/kvm: their settings stay as they are.
Result<KvmFacts> kvm_facts(const plan::HostFacts& facts);

// What `file` says; absent where there is none that can be read.
std::optional<KvmProof> kept_proof(const std::string& file);

// Starts a machine from `settings` with KVM, whatever they say of that, and keeps what came of it in `file`.
Result<KvmProof> prove_kvm(backend::vm::VmBackend::Settings settings, const KvmFacts& facts, const std::string& file,
                           backend::Backend& jails, const backend::StartOptions& options);

}  // namespace hutch::service
