// Whether KVM works here.
#include "service/vm/vm_kvm.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "backend/vm/snapshot.h"
#include "base/limits.h"
#include "base/sha256.h"
#include "base/text.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"
#include "sys/files/whole_file.h"
#include "sys/machine.h"

namespace hutch::service {

namespace {

constexpr const char* kDevice = "/dev/kvm";
constexpr std::size_t kGroupsMax = 16 << 20;
constexpr std::size_t kProcessorBytes = 8192;  // the first of /proc/cpuinfo, and more than it
constexpr std::uint32_t kGroupOpens = 060;
// A machine takes a second or two with KVM where it works; where it does not it would take for ever.
constexpr std::chrono::seconds kLimit{20};

// group(5); empty where nobody is called so.
std::string group_named(std::uint32_t number) {
  const auto groups = sys::read_file("/etc/group", kGroupsMax);
  for (const std::string_view line : split(groups.value_or(std::string()), '\n')) {
    const auto fields = split(line, ':');
    if (fields.size() >= 3 && fields[2] == std::to_string(number)) return printable(fields[0], 64);
  }
  return {};
}

// What a saved machine of this processor may take for granted: its name and what it can do, not how fast it runs now.
Result<std::string> processor() {
  const UniqueFd file = TRY(sys::open("/proc/cpuinfo", sys::Open::kRead));
  Sha256 sum;
  const std::string first = TRY(sys::read_at(file.get(), 0, kProcessorBytes));
  for (const std::string_view line : split(first, '\n')) {
    if (line.empty()) break;
    if (line.starts_with("model name") || line.starts_with("flags")) sum.add(line);
  }
  return sum.finish();
}

// What changes when another is installed.
Result<std::string> look_of_qemu() {
  if (!sys::exists(backend::vm::kQemu)) return std::string();
  const UniqueFd file = TRY(sys::open(backend::vm::kQemu, sys::Open::kPath));
  const sys::FileStatus look = TRY(sys::file_status(file.get(), ""));
  return fmt::format("{} {} {} {}", look.inode, look.size, look.modified_ns, look.changed_ns);
}

}  // namespace

Result<KvmFacts> kvm_facts(const plan::HostFacts& facts) {
  KvmFacts found{.user = facts.user};
  const auto status = TRY(sys::status_of(kDevice));
  if (!status || status->kind != sys::EntryKind::kOther) return found;
  const auto opened = sys::open_device(kDevice);
  found.device = opened ? KvmFacts::Device::kOpen : KvmFacts::Device::kClosed;
  if (!opened) found.refusal = opened.error().message;
  found.group = group_named(status->gid);
  found.opens_to_group = (status->mode & kGroupOpens) == kGroupOpens;
  found.basis = {.kernel = facts.kernel,
                 .qemu = TRY(look_of_qemu()),
                 .device = fmt::format("{:o} {} {}", status->mode, status->uid, status->gid),
                 .processor = TRY(processor())};
  return found;
}

std::optional<KvmProof> kept_proof(const std::string& file) {
  const auto text = sys::regular_file_text(file, limits::kJsonBytesMax);
  return text ? read_kvm_proof(*text) : std::nullopt;
}

Result<KvmProof> prove_kvm(backend::vm::VmBackend::Settings settings, const KvmFacts& facts, const std::string& file,
                           backend::Backend& jails, const backend::StartOptions& options) {
  settings.accelerator = backend::vm::Accelerator::kKvm;
  const auto begun = std::chrono::steady_clock::now();
  const Status ran = backend::vm::prove(settings, kLimit, jails, options);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  KvmProof proof{.works = ran.has_value(), .reason = {}, .basis = facts.basis};
  if (ran) {
    proof.reason = fmt::format("a Linux started with it in {:.1f} s", took.count());
  } else if (ran.error().code == Code::kTimeout) {
    proof.reason =
        fmt::format("/dev/kvm makes a machine, but a Linux in it came to nothing within {} s", kLimit.count());
  } else {
    proof.reason = cat({"a machine with KVM does not start: ", printable(ran.error().message, 400)});
  }
  TRY(sys::replace_file(file, kvm_proof_json(proof)));
  return proof;
}

}  // namespace hutch::service
