// What accelerates virtual machines here.
#include "service/vm/kvm.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "wire/json_guard.h"

namespace hutch::service {

namespace {

using backend::vm::Accelerator;
using nlohmann::json;

// docs/vm.md says what was measured.
constexpr std::string_view kSlower = "software (TCG), in which programs take some 15 times as long";

std::string why_closed(const KvmFacts& facts) {
  if (facts.opens_to_group && !facts.group.empty()) {
    return cat({"/dev/kvm is for the group ", facts.group, ", which ", facts.user, " is not in; sudo usermod -aG ",
                facts.group, " ", facts.user, ", hutch daemon stop, a new login, and hutch vm restart"});
  }
  return cat({"/dev/kvm does not open for ", facts.user, " (", facts.refusal,
              "), and no group opens it; whoever administers this machine can say who may"});
}

std::string why_software(const KvmFacts& facts, const std::optional<KvmProof>& last) {
  switch (facts.device) {
    case KvmFacts::Device::kAbsent:
      return "there is no /dev/kvm; it comes with the kernel's module kvm_intel or kvm_amd, where the processor has "
             "virtualization, and it is switched on";
    case KvmFacts::Device::kClosed: return why_closed(facts);
    case KvmFacts::Device::kOpen: break;
  }
  if (!last) return "whether KVM works here was never tried; hutch vm restart does";
  if (last->basis != facts.basis) {
    return "kernel, QEMU, processor or /dev/kvm is another than KVM was tried with; hutch vm restart tries anew";
  }
  return last->reason;
}

bool is_proved(const KvmFacts& facts, const std::optional<KvmProof>& last) {
  return facts.device == KvmFacts::Device::kOpen && last && last->works && last->basis == facts.basis;
}

std::optional<std::string> field_text(const json& object, const char* key) {
  const json value = object.value(key, json());
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

}  // namespace

bool wants_proof(const KvmFacts& facts, const std::optional<KvmProof>& last) {
  return facts.device == KvmFacts::Device::kOpen && (!last || last->basis != facts.basis);
}

Acceleration accelerate(const KvmFacts& facts, const std::optional<KvmProof>& last) {
  if (is_proved(facts, last)) return {Accelerator::kKvm, cat({"KVM: ", last->reason})};
  return {Accelerator::kTcg, cat({kSlower, ": ", why_software(facts, last)})};
}

std::string_view name_of(Accelerator accelerator) { return accelerator == Accelerator::kKvm ? "kvm" : "tcg"; }

std::string kvm_proof_json(const KvmProof& proof) {
  const json basis = {{"kernel", proof.basis.kernel},
                      {"qemu", proof.basis.qemu},
                      {"device", proof.basis.device},
                      {"processor", proof.basis.processor}};
  const json object = {{"works", proof.works}, {"reason", proof.reason}, {"with", basis}};
  return object.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::optional<KvmProof> read_kvm_proof(std::string_view text) {
  if (!wire::check_json_shape(text, limits::kJsonBytesMax)) return std::nullopt;
  const json object = parse_json(text);
  if (!object.is_object()) return std::nullopt;
  const json works = object.value("works", json());
  const json with = object.value("with", json());
  if (!works.is_boolean() || !with.is_object()) return std::nullopt;
  const auto reason = field_text(object, "reason");
  const auto kernel = field_text(with, "kernel");
  const auto qemu = field_text(with, "qemu");
  const auto device = field_text(with, "device");
  const auto processor = field_text(with, "processor");
  if (!reason || !kernel || !qemu || !device || !processor) return std::nullopt;
  return KvmProof{works.get<bool>(), *reason, {*kernel, *qemu, *device, *processor}};
}

}  // namespace hutch::service
