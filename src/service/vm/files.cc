// What a virtual machine is started from.
#include "service/vm/files.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "backend/namespace/namespace_backend.h"
#include "backend/vm/snapshot.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/sha256.h"
#include "base/text.h"
#include "host/state_dirs.h"
#include "plan/filter/seccomp.h"
#include "plan/quotas.h"
#include "service/common/filter.h"
#include "service/common/programs.h"
#include "service/common/told_program.h"
#include "service/image/build.h"
#include "service/image/recipe.h"
#include "service/vm/kernel.h"
#include "service/vm/root.h"
#include "service/vm/steps.h"
#include "service/vm/sums.h"
#include "service/vm/vm_kvm.h"
#include "store/machine_settings.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/journal.h"
#include "sys/files/tree.h"
#include "sys/files/whole_file.h"
#include "sys/io.h"
#include "sys/process/host_info.h"
#include "sys/process/process.h"
#include "wire/json_guard.h"

namespace hutch::service {

namespace {

using nlohmann::json;

constexpr const char* kUsualKernel = "linux-image-cloud-amd64";
constexpr std::string_view kRemedy = "hutch vm provision makes what it starts from";
constexpr const char* kProof = "kvm.json";
constexpr const char* kPackageStep = "package";  // of the kernel; what is started has nothing of it
constexpr std::array<std::string_view, 6> kOfSnapshot = {kMachineMemory, "state",        "initramfs",
                                                         kRootedMemory,  "rooted-state", kRootedChanges};
// Of what is provisioned: one of another hutch may lack what this one starts.
constexpr int kForm = 3;

struct VmDirectories {
  std::string top;     // "vm" of hutch's data
  std::string config;  // of hutch
  std::string file(std::string_view name) const { return cat({top, "/files/", name}); }
};

Result<VmDirectories> vm_directories(const plan::HostFacts& facts) {
  const host::StateDirs dirs = TRY(host::own_state_dirs(facts.uid, facts.home));
  return VmDirectories{cat({dirs.data, "/vm"}), dirs.config};
}

backend::vm::SnapshotFiles snapshot_in(const std::string& directory) {
  const auto file = [&](std::string_view name) { return cat({directory, "/", name}); };
  return {.initramfs = file("initramfs"),
          .early = {file(kMachineMemory), file("state")},
          .rooted = {file(kRootedMemory), file("rooted-state")},
          .changes = file(kRootedChanges)};
}

// What changes when a file's bytes do, which nobody but root can put back.
Result<json> look_of(const std::string& path) {
  const sys::FileStatus status = TRY(sys::file_status(sys::kCwd, path));
  return json::array({status.inode, status.size, status.modified_ns, status.changed_ns});
}

Result<json> manifest_of(const VmDirectories& place) {
  const std::string path = place.file("manifest.json");
  if (!sys::exists(path)) return fail(Error::unsupported(cat({"no virtual machine is provisioned; ", kRemedy})));
  const std::string text = TRY(sys::regular_file_text(path, limits::kJsonBytesMax));
  TRY(wire::check_json_shape(text, limits::kJsonBytesMax));
  json manifest = parse_json(text);
  const bool known = manifest.is_object() && manifest.value("sums", json()).is_object() &&
                     manifest.value("modules", json()).is_array() && manifest.value("release", json()).is_string();
  if (!known) return fail(Error::invalid(cat({path, ": is no manifest; ", kRemedy})));
  const json form = manifest.value("form", json());
  if (form != kForm) {
    return fail(Error::unsupported(cat({"what was provisioned is another version's; ", kRemedy, " anew"})));
  }
  return manifest;
}

// What looks as it did when it was last read is not read again.
Result<bool> is_unchanged(json& looks, const std::string& name, const std::string& path, const json& sum) {
  const json look = TRY(look_of(path));
  if (looks.is_object() && looks.value(name, json()) == look) return true;
  const std::string now = TRY(sum_of_named(name, path));
  if (!sum.is_string() || now != sum.get<std::string>()) return false;
  looks[name] = look;
  return true;
}

// Everything that is started is what was provisioned.
Status verify(const VmDirectories& place, json& manifest) {
  for (const auto& [name, sum] : manifest["sums"].items()) {
    const std::string path = place.file(name);
    if (TRY(is_unchanged(manifest["looks"], name, path, sum))) continue;
    return fail({Code::kConflict, 0, cat({path, ": is not what was provisioned; ", kRemedy, " anew"})});
  }
  return {};
}

// What a snapshot has in it, or takes to go on.
Result<std::array<std::pair<std::string, std::string>, 2>> parts_of_snapshot() {
  return std::array{std::pair<std::string, std::string>("guest", TRY(guest_program())),
                    std::pair<std::string, std::string>("qemu", backend::vm::kQemu)};
}

backend::vm::MachineSize usual_size(const store::MachineSettings& settings) {
  return {.cpus = settings.cpus, .memory_mib = settings.memory_gb << 10};
}

json size_json(const backend::vm::MachineSize& size) { return json::array({size.cpus, size.memory_mib}); }

Result<Acceleration> acceleration(const VmDirectories& place, const plan::HostFacts& facts) {
  return accelerate(TRY(kvm_facts(facts)), kept_proof(place.file(kProof)));
}

// Whether there is one of that size, of what accelerates now, and hutch and QEMU are those that made it.
Result<bool> has_snapshot(json& manifest, const backend::vm::MachineSize& size, backend::vm::Accelerator accelerator) {
  const json made_by = manifest.value("snapshot", json());
  if (!made_by.is_object() || made_by.value("size", json()) != size_json(size)) return false;
  if (made_by.value("accelerator", json("tcg")) != name_of(accelerator)) return false;
  for (const auto& [name, path] : TRY(parts_of_snapshot())) {
    if (!TRY(is_unchanged(manifest["looks"], name, path, made_by.value(name, json())))) return false;
  }
  return true;
}

Result<backend::vm::VmBackend::Settings> settings_of(const VmDirectories& place, const std::string& files,
                                                     const json& manifest, const plan::HostFacts& facts) {
  const store::MachineSettings machines = TRY(store::MachineSettingsFile(place.config).read());
  const auto file = [&](std::string_view name) { return cat({files, "/", name}); };
  backend::vm::VmBackend::Settings settings{.kernel = file("kernel"),
                                            .system = file("system"),
                                            .usual = usual_size(machines),
                                            .directory = cat({place.top, "/runs"})};
  for (const json& name : manifest["modules"]) {
    if (name.is_string()) settings.modules.push_back(file(name.get<std::string>()));
  }
  plan::SandboxPlan jail;
  TRY(add_filter(jail, facts));
  settings.filter = std::move(jail.seccomp);
  settings.process_limits = plan::process_limits(facts);
  settings.user_counts = plan::user_counts(facts);
  jail.rights = plan::Rights::kFileServer;
  TRY(add_filter(jail, facts));
  settings.file_server_filter = std::move(jail.seccomp);
  return settings;
}

// By a machine that is started with KVM where that has not been tried as everything is now.
Result<backend::vm::Accelerator> find_accelerator(const backend::vm::VmBackend::Settings& settings,
                                                  const std::string& file, backend::Backend& jails,
                                                  const backend::StartOptions& options, const plan::HostFacts& facts,
                                                  const TellImage& tell) {
  const KvmFacts kvm = TRY(kvm_facts(facts));
  std::optional<KvmProof> proof = kept_proof(file);
  if (wants_proof(kvm, proof)) {
    tell("trying whether KVM works here, by a machine that starts with it");
    proof = TRY(prove_kvm(settings, kvm, file, jails, options));
  }
  const Acceleration chosen = accelerate(kvm, proof);
  tell(cat({"machines run by ", chosen.words}));
  return chosen.accelerator;
}

// What a machine is started with that is saved.
struct Starting {
  backend::vm::VmBackend::Settings settings;
  backend::NamespaceBackend jails{};
  backend::StartOptions options{};
};
Result<Starting> get_ready(const VmDirectories& place, const std::string& files, const json& manifest,
                           const plan::HostFacts& facts) {
  if (!sys::exists(backend::vm::kQemu)) return fail(Error::unsupported(cat({backend::vm::kQemu, " is missing"})));
  Starting starting{.settings = TRY(settings_of(place, files, manifest, facts))};
  starting.options.guest_program = TRY(guest_program());
  starting.options.landlock_abi = facts.landlock_abi;
  return starting;
}

Result<json> snapshot_parts(const backend::vm::VmBackend::Settings& settings) {
  json parts = json::object();
  for (const auto& [name, path] : TRY(parts_of_snapshot())) parts[name] = TRY(sum_of_file(path));
  parts["size"] = size_json(settings.usual);
  parts["accelerator"] = name_of(settings.accelerator);
  return parts;
}

// A machine that has started, in the directory `into`: the next ones begin there.
Status save_machine(Starting& starting, const std::string& into, const TellImage& tell) {
  tell("starting a machine, to save it");
  return backend::vm::save_snapshot(starting.settings, snapshot_in(into), starting.jails, starting.options);
}

struct Provisioning {
  const VmProvisionRequest& request;
  const plan::HostFacts& facts;
  const TellImage& tell;
  const VmDirectories& place;
  VmSteps steps;
  json manifest;
};

Result<VmSteps::Made> made_of(const VmKernel& kernel) {
  std::vector<std::string> files = kernel.modules;
  files.emplace_back("kernel");
  return VmSteps::Made{json{{"release", kernel.release}, {"modules", kernel.modules}}.dump(), std::move(files)};
}

Result<VmSteps::Made> make_kernel_of_package(Provisioning& of, const std::string& package, const std::string& into) {
  const auto fetch = [&](const std::string& place) -> Result<VmSteps::Made> {
    TRY(fetch_kernel_package(package, place, of.tell));
    return VmSteps::Made{"", {kKernelPackage}};
  };
  TRY(of.steps.take({kPackageStep, package, "the kernel's package"}, fetch, of.tell));
  return made_of(TRY(unpack_kernel_package(of.steps.file(kKernelPackage), into, of.tell)));
}

Status provide_kernel(Provisioning& of) {
  const std::string kernel = of.request.kernel.empty() ? kUsualKernel : of.request.kernel;
  const bool is_path = is_kernel_path(kernel);
  const auto make = [&](const std::string& into) -> Result<VmSteps::Made> {
    if (!is_path) return make_kernel_of_package(of, kernel, into);
    return made_of(TRY(take_kernel(kernel, of.request.modules, into, of.tell)));
  };
  // What is of this machine's files is taken again from there.
  const std::string about = TRY(of.steps.take({"kernel", is_path ? "" : kernel, "the kernel"}, make, of.tell));
  of.manifest.update(parse_json(about));
  return {};
}

// What another archive does not have; nothing where that cannot be told.
Result<std::string> key_of_root(const std::string& root) {
  Sha256 recipe;
  recipe.add(default_recipe());
  if (root.empty()) return cat({"recipe ", recipe.finish()});
  if (root == "-") return std::string();
  const sys::FileStatus status = TRY(sys::file_status(sys::kCwd, root));
  if (status.kind != sys::EntryKind::kFile) return std::string();
  return cat({"archive ", root, " ", TRY(look_of(root)).dump()});
}

Status provide_root(Provisioning& of, const std::string& root) {
  const auto make = [&](const std::string& into) -> Result<VmSteps::Made> {
    TRY(make_vm_root(root, into, of.facts, of.tell));
    return VmSteps::Made{"", {"system"}};
  };
  const std::string key = TRY(key_of_root(root));
  TRY(of.steps.take({"root", key, "the root file system"}, make, of.tell));
  return {};
}

Status provide_machine(Provisioning& of) {
  Starting starting = TRY(get_ready(of.place, of.steps.directory(), of.manifest, of.facts));
  auto& settings = starting.settings;
  settings.accelerator =
      TRY(find_accelerator(settings, of.steps.file(kProof), starting.jails, starting.options, of.facts, of.tell));
  const json parts = TRY(snapshot_parts(settings));
  const json key = {parts, of.steps.sums_without(kPackageStep)};
  const auto make = [&](const std::string& into) -> Result<VmSteps::Made> {
    TRY(save_machine(starting, into, of.tell));
    return VmSteps::Made{"", {kOfSnapshot.begin(), kOfSnapshot.end()}};
  };
  TRY(of.steps.take({"machine", key.dump(), "the machine that is saved"}, make, of.tell));
  of.manifest["snapshot"] = parts;
  return {};
}

Status provide_all(Provisioning& of) {
  const std::string root = of.manifest["request"]["root"].get<std::string>();
  TRY(provide_kernel(of));
  TRY(provide_root(of, root));
  Status saved = provide_machine(of);
  const auto proof = kept_proof(of.steps.file(kProof));
  // That none of its machines starts may be the kernel's fault.
  if (!saved && proof && !proof->works) TRY(sys::unlink_at(sys::kCwd, of.steps.file(kProof)));
  // Whether a file is a kernel for it a machine has to show.
  if (!saved && is_kernel_path(of.request.kernel)) {
    const bool has_modules = !of.manifest["modules"].empty();
    return fail(std::move(saved).error().with_context(
        cat({printable(of.request.kernel), " does not start a machine",
             has_modules ? "" : " (without modules: --modules DIR has what it has not built in)"})));
  }
  if (!saved) of.tell(cat({"no machine is saved, each start takes longer: ", saved.error().message}));
  of.manifest["sums"] = of.steps.sums_without(kPackageStep);
  std::vector<std::string> keep = {kProof};
  for (const auto& [name, sum] : of.manifest["sums"].items()) keep.push_back(name);
  return of.steps.publish("manifest.json", of.manifest.dump(1), keep);
}

}  // namespace

Status provision_vm(const VmProvisionRequest& request, const plan::HostFacts& facts, const TellImage& tell) {
  if (facts.architecture != "x86_64") {
    return fail(
        Error::unsupported(cat({"virtual machines of ", facts.architecture, " are not provisioned by this version"})));
  }
  VmProvisionRequest found = request;
  if (is_kernel_path(found.kernel)) found.kernel = TRY_CTX(sys::canonical_path(found.kernel), "--kernel");
  if (!found.modules.empty()) found.modules = TRY_CTX(sys::canonical_path(found.modules), "--modules");
  if (!found.root.empty() && found.root != "-") found.root = TRY_CTX(sys::canonical_path(found.root), "--root");
  if (!found.modules.empty() && !is_kernel_path(found.kernel)) {
    return fail(Error::invalid("--modules is for a kernel of a file (--kernel PATH); a package has its own"));
  }
  const VmDirectories place = TRY(vm_directories(facts));
  TRY(sys::make_private_directories(place.top));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  Provisioning of{
      .request = found,
      .facts = facts,
      .tell = tell,
      .place = place,
      .steps = TRY(VmSteps::open(place.top, kForm, std::chrono::ceil<std::chrono::seconds>(now).count())),
      .manifest = {{"form", kForm},
                   {"request", {{"kernel", found.kernel}, {"root", found.root}, {"modules", found.modules}}}}};
  Status made = provide_all(of);
  if (!made && !of.steps.sums_without({}).empty()) {
    tell("what is whole so far is kept: hutch vm provision goes on from there, for a day");
  }
  return made;
}

Status refresh_vm(const plan::HostFacts& facts, const TellImage& tell) {
  const VmDirectories place = TRY(vm_directories(facts));
  json manifest = TRY(manifest_of(place));
  const store::MachineSettings machines = TRY(store::MachineSettingsFile(place.config).read());
  const KvmFacts kvm = TRY(kvm_facts(facts));
  const std::optional<KvmProof> proof = kept_proof(place.file(kProof));
  const auto accelerator = accelerate(kvm, proof).accelerator;
  if (!wants_proof(kvm, proof) && TRY(has_snapshot(manifest, usual_size(machines), accelerator))) return {};
  TRY(verify(place, manifest));
  Starting starting = TRY(get_ready(place, place.file(""), manifest, facts));
  starting.settings.accelerator =
      TRY(find_accelerator(starting.settings, place.file(kProof), starting.jails, starting.options, facts, tell));
  if (TRY(has_snapshot(manifest, usual_size(machines), starting.settings.accelerator))) return {};
  const std::string fresh = half_made(place.top);
  remove_half_made(place.top);
  TRY(sys::remove_tree(fresh));
  TRY(sys::make_private_directories(fresh));
  const auto put = [&]() -> Status {
    TRY(save_machine(starting, fresh, tell));
    // Whoever starts a machine meanwhile boots it.
    manifest.erase("snapshot");
    for (const std::string_view name : kOfSnapshot) manifest["sums"].erase(std::string(name));
    TRY(sys::replace_file(place.file("manifest.json"), manifest.dump(1)));
    manifest["snapshot"] = TRY(snapshot_parts(starting.settings));
    for (const std::string_view name : kOfSnapshot) {
      const std::string made = cat({fresh, "/", name});
      manifest["sums"][std::string(name)] = TRY(sum_of_named(name, made));
      TRY(sys::rename_file(made, place.file(name)));
    }
    return sys::replace_file(place.file("manifest.json"), manifest.dump(1));
  };
  Status made = put();
  (void)sys::remove_tree(fresh);
  return made;
}

Result<VmProvisionRequest> last_vm_request(const plan::HostFacts& facts) {
  const VmDirectories place = TRY(vm_directories(facts));
  const json manifest = TRY(manifest_of(place));
  const json request = manifest.value("request", json::object());
  const auto text = [&](const char* key) {
    const json value = request.is_object() ? request.value(key, json()) : json();
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  return VmProvisionRequest{text("kernel"), text("root"), text("modules")};
}

Result<std::string> vm_system(const plan::HostFacts& facts) {
  const VmDirectories place = TRY(vm_directories(facts));
  const json manifest = TRY(manifest_of(place));
  const json sum = manifest["sums"].value("system", json());
  if (!sum.is_string()) return fail(Error::invalid(cat({place.file("manifest.json"), ": is no manifest; ", kRemedy})));
  return sum.get<std::string>();
}

Result<VmStatus> vm_status(const plan::HostFacts& facts) {
  const VmDirectories place = TRY(vm_directories(facts));
  VmStatus status{.directory = cat({place.top, "/files"})};
  if (!sys::exists(place.file("manifest.json"))) return status;
  json manifest = TRY(manifest_of(place));
  status.provisioned = true;
  const store::MachineSettings machines = TRY(store::MachineSettingsFile(place.config).read());
  status.acceleration = TRY(acceleration(place, facts));
  status.snapshot = TRY(has_snapshot(manifest, usual_size(machines), status.acceleration.accelerator));
  status.kernel = manifest["release"].get<std::string>();
  const sys::FileStatus root = TRY(sys::file_status(sys::kCwd, place.file("system")));
  const auto made = std::chrono::nanoseconds(root.modified_ns);
  status.made = sys::local_time_text(
      std::chrono::system_clock::time_point(std::chrono::duration_cast<std::chrono::system_clock::duration>(made)));
  status.bytes = root.size;
  return status;
}

Status remove_vm(const plan::HostFacts& facts) {
  const VmDirectories place = TRY(vm_directories(facts));
  return sys::exists(place.top) ? sys::remove_tree(place.top) : Status();
}

Result<backend::vm::VmBackend::Settings> vm_settings(const plan::HostFacts& facts) {
  const VmDirectories place = TRY(vm_directories(facts));
  if (!sys::exists(backend::vm::kQemu)) {
    return fail(Error::unsupported("QEMU is missing; apt-get install qemu-system-x86"));
  }
  json manifest = TRY(manifest_of(place));
  const json before = manifest;
  TRY(verify(place, manifest));
  auto settings = TRY(settings_of(place, cat({place.top, "/files"}), manifest, facts));
  settings.accelerator = TRY(acceleration(place, facts)).accelerator;
  if (TRY(has_snapshot(manifest, settings.usual, settings.accelerator))) {
    settings.snapshot.emplace(snapshot_in(cat({place.top, "/files"})));
  }
  if (manifest != before) TRY(sys::replace_file(place.file("manifest.json"), manifest.dump(1)));
  return settings;
}

}  // namespace hutch::service
