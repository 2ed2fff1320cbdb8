// What accelerates virtual machines here. That /dev/kvm is there, opens and makes a machine proves nothing: in some
// machines that are virtual themselves a Linux then stands still in it. One that ran does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backend/vm/jail.h"
#include "base/result.h"

namespace hutch::service {

// What of this machine a proof is about: with another it is none.
struct KvmBasis {
  std::string kernel;     // of this machine, uname -r
  std::string qemu;       // by its file
  std::string device;     // /dev/kvm: mode, owner and group
  std::string processor;  // its name and what it can do
  bool operator==(const KvmBasis&) const = default;
};

struct KvmFacts {
  enum class Device { kAbsent, kClosed, kOpen };
  Device device = Device::kAbsent;
  std::string refusal{};      // kClosed: what open(2) says
  std::string user{};         // who asks
  std::string group{};        // of /dev/kvm, by name
  bool opens_to_group = false;  // by its mode
  KvmBasis basis{};
};

// What came of a machine that was started with KVM.
struct KvmProof {
  bool works = false;
  std::string reason;  // a sentence
  KvmBasis basis;
};

// Whether a machine is to be started to find out: the device opens, and `last` is of something else.
bool wants_proof(const KvmFacts& facts, const std::optional<KvmProof>& last);

struct Acceleration {
  backend::vm::Accelerator accelerator = backend::vm::Accelerator::kTcg;
  std::string words{};  // one line: which it is, how much slower where it is software, why, and the remedy
};
Acceleration accelerate(const KvmFacts& facts, const std::optional<KvmProof>& last);

std::string_view name_of(backend::vm::Accelerator accelerator);

std::string kvm_proof_json(const KvmProof& proof);
// What kvm_proof_json has made; absent for anything else, which proves nothing.
std::optional<KvmProof> read_kvm_proof(std::string_view json);

}  // namespace hutch::service
