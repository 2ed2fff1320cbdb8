// What a virtual machine is started from.
#include "service/vm_files.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "backend/namespace/namespace_backend.h"
#include "backend/vm/snapshot.h"
#include "base/limits.h"
#include "base/sha256.h"
#include "base/text.h"
#include "host/state_dirs.h"
#include "plan/seccomp.h"
#include "service/image_build.h"
#include "service/programs.h"
#include "service/start.h"
#include "service/told_program.h"
#include "service/vm_kvm.h"
#include "store/machine_settings.h"
#include "sys/beneath.h"
#include "sys/files.h"
#include "sys/host_info.h"
#include "sys/io.h"
#include "sys/journal.h"
#include "sys/process.h"
#include "sys/tree.h"
#include "sys/whole_file.h"
#include "wire/json_guard.h"

namespace hutch::service {

namespace {

using nlohmann::json;

constexpr const char* kPacker = "/usr/bin/tar2sqfs";
constexpr const char* kKernelPackage = "linux-image-cloud-amd64";
constexpr std::string_view kRemedy = "hutch vm provision makes what it starts from";
constexpr std::size_t kStep = 1 << 20;
constexpr const char* kMemory = "memory";  // of a machine that was saved
constexpr const char* kProof = "kvm.json";
constexpr std::array<std::string_view, 3> kOfSnapshot = {"memory", "state", "initramfs"};
// Of what is provisioned: one of another hutch may lack what this one starts.
constexpr int kForm = 3;

// In the order in which the kernel is to have them; those that it has built in are no files.
constexpr std::array<std::string_view, 16> kModules = {"drivers/virtio/virtio_ring",
                                                       "drivers/virtio/virtio",
                                                       "drivers/virtio/virtio_pci_legacy_dev",
                                                       "drivers/virtio/virtio_pci_modern_dev",
                                                       "drivers/virtio/virtio_pci",
                                                       "drivers/block/virtio_blk",
                                                       "drivers/char/virtio_console",
                                                       "drivers/char/hw_random/virtio-rng",
                                                       "net/core/failover",
                                                       "drivers/net/net_failover",
                                                       "drivers/net/virtio_net",
                                                       "fs/fuse/fuse",
                                                       "fs/fuse/virtiofs",
                                                       "fs/overlayfs/overlay",
                                                       "fs/squashfs/squashfs",
                                                       "fs/ext4/ext4"};

// The package that $2 is, or that it depends on, unpacked below $1 without being installed.
constexpr const char* kFetchKernel = R"sh(set -e
cd "$1"
package=$(apt-cache depends -- "$2" | sed -n 's/^ *Depends: *\(linux-image[^ ]*\)$/\1/p' | head -n 1)
apt-get download -q -- "${package:-$2}"
dpkg-deb -x ./*.deb tree
)sh";

struct Place {
  std::string top;     // "vm" of hutch's data
  std::string config;  // of hutch
  std::string file(std::string_view name) const { return cat({top, "/files/", name}); }
};

Result<Place> place_of(const plan::HostFacts& facts) {
  const host::StateDirs dirs = TRY(host::own_state_dirs(facts.uid, facts.home));
  return Place{cat({dirs.data, "/vm"}), dirs.config};
}

Result<std::string> sum_of(const std::string& path) {
  const UniqueFd file = TRY(sys::open(path, sys::Open::kRead));
  Sha256 sum;
  for (std::uint64_t at = 0;;) {
    const std::string bytes = TRY(sys::read_at(file.get(), at, kStep));
    if (bytes.empty()) return sum.finish();
    sum.add(bytes);
    at += bytes.size();
  }
}

// Of a machine's memory: gigabytes, nearly all of them zero. Blocks of zeros count as holes do, so that a copy without
// holes is the same.
Result<std::string> sum_of_memory(const std::string& path) {
  static constexpr std::size_t kBlock = 64 << 10;
  const UniqueFd file = TRY(sys::open(path, sys::Open::kRead));
  Sha256 sum;
  for (std::uint64_t at = 0;;) {
    const auto data = TRY(sys::next_data(file.get(), at));
    if (!data) return sum.finish();
    for (at = data->begin / kBlock * kBlock; at < data->end; at += kBlock) {
      const std::string bytes = TRY(sys::read_at(file.get(), at, kBlock));
      if (bytes.find_first_not_of('\0') == bytes.npos) continue;
      sum.add(cat({std::to_string(at), ":"}));
      sum.add(bytes);
    }
  }
}

Result<std::string> sum_of_named(const std::string& name, const std::string& path) {
  return name == kMemory ? sum_of_memory(path) : sum_of(path);
}

// What changes when a file's bytes do, which nobody but root can put back.
Result<json> look_of(const std::string& path) {
  const sys::FileStatus status = TRY(sys::file_status(sys::kCwd, path));
  return json::array({status.inode, status.size, status.modified_ns, status.changed_ns});
}

Result<std::string> only_name(const std::string& directory, std::string_view prefix) {
  const UniqueFd listing = TRY(sys::open_listing(directory));
  for (const sys::TreeEntry& entry : TRY(sys::names_in(listing.get(), directory))) {
    if (entry.name.starts_with(prefix)) return entry.name;
  }
  return fail(Error::not_found(cat({directory, ": nothing named ", prefix, "*: is that package a kernel's?"})));
}

Status fetch_kernel(const std::string& into, const std::string& package, const TellImage& tell, json& files) {
  tell(cat({"fetching the kernel of ", package}));
  const std::string scratch = cat({into, "/package"});
  TRY(sys::make_directory(sys::kCwd, scratch, 0755));
  TRY_CTX(run_told("/bin/sh", {"sh", "-c", kFetchKernel, "sh", scratch, package},
                   {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, tell),
          "fetch the kernel");
  const std::string tree = cat({scratch, "/tree"});
  const std::string image = TRY(only_name(cat({tree, "/boot"}), "vmlinuz-"));
  const std::string release = image.substr(std::string_view("vmlinuz-").size());
  TRY(sys::rename_file(cat({tree, "/boot/", image}), cat({into, "/kernel"})));
  files["release"] = release;
  files["sums"]["kernel"] = TRY(sum_of(cat({into, "/kernel"})));
  files["modules"] = json::array();
  for (const std::string_view module : kModules) {
    const std::string found = cat({tree, "/lib/modules/", release, "/kernel/", module, ".ko"});
    if (!sys::exists(found)) continue;
    const std::string name = cat({"module-", module.substr(module.rfind('/') + 1)});
    TRY(sys::rename_file(found, cat({into, "/", name})));
    files["modules"].push_back(name);
    files["sums"][name] = TRY(sum_of(cat({into, "/", name})));
  }
  return sys::remove_tree(scratch);
}

// An archive's owners and modes are taken as they are: nothing of it is unpacked here.
Status pack_root(int archive, const std::string& path, const TellImage& tell) {
  if (!sys::exists(kPacker)) {
    return fail(
        Error::unsupported("tar2sqfs, which makes the file system of a machine's root, is missing; apt-get "
                           "install squashfs-tools-ng"));
  }
  sys::Pipe words = TRY(sys::pipe());
  auto packing = TRY(sys::spawn(kPacker, {.arguments = {"tar2sqfs", "-q", "-f", "-c", "lz4", path},
                                          .environment = {},
                                          .install = {{archive, 0}, {words.write.get(), 1}, {words.write.get(), 2}}}));
  words.write.reset();
  ToldWords told(tell);
  std::string buffer(4096, '\0');
  for (;;) {
    const auto size = sys::read_some(words.read.get(), buffer);
    if (!size || *size == 0) break;
    told.add(std::string_view(buffer).substr(0, *size));
  }
  told.end();
  const sys::WaitStatus ended = TRY(packing.wait());
  if (ended.exited() && ended.exit_code() == 0) return {};
  return fail({Code::kSystem, 0, cat({"tar2sqfs failed: ", told.last()})});
}

Status make_root(const std::string& into, const std::string& root, const plan::HostFacts& facts,
                 const TellImage& tell) {
  const std::string path = cat({into, "/system"});
  const auto pack = [&](int archive) { return pack_root(archive, path, tell); };
  if (root.empty()) return build_default_archive(Signals::kOwn, facts, tell, pack);
  tell("packing the root file system");
  if (root == "-") return pack(0);
  const UniqueFd archive = TRY(sys::open(root, sys::Open::kRead));
  return pack(archive.get());
}

std::string new_place(const Place& place) { return cat({place.top, "/new-", std::to_string(sys::own_pid())}); }

// What a hutch that was killed had begun to make.
void remove_begun(const Place& place) {
  static constexpr std::string_view kBegun = "new-";
  const auto listing = sys::open_listing(place.top);
  if (!listing) return;
  const auto names = sys::names_in(listing->get(), place.top);
  for (const sys::TreeEntry& entry : names.value_or(std::vector<sys::TreeEntry>())) {
    const std::string_view name = entry.name;
    if (!name.starts_with(kBegun)) continue;
    pid_t pid = 0;
    const auto read = std::from_chars(name.data() + kBegun.size(), name.data() + name.size(), pid);
    const bool ours = read.ec == std::errc() && read.ptr == name.data() + name.size() && pid > 0;
    if (ours && sys::is_over(pid)) (void)sys::remove_tree(cat({place.top, "/", name}));
  }
}

Result<json> manifest_of(const Place& place) {
  const std::string path = place.file("manifest.json");
  if (!sys::exists(path)) return fail(Error::unsupported(cat({"no virtual machine is provisioned; ", kRemedy})));
  const std::string text = TRY(sys::regular_file_text(path, limits::kJsonBytesMax));
  TRY(wire::check_json_shape(text, limits::kJsonBytesMax));
  json manifest = json::parse(text, nullptr, false);
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
Result<bool> is_same(json& looks, const std::string& name, const std::string& path, const json& sum) {
  const json look = TRY(look_of(path));
  if (looks.is_object() && looks.value(name, json()) == look) return true;
  const std::string now = TRY(sum_of_named(name, path));
  if (!sum.is_string() || now != sum.get<std::string>()) return false;
  looks[name] = look;
  return true;
}

// Everything that is started is what was provisioned.
Status verify(const Place& place, json& manifest) {
  for (const auto& [name, sum] : manifest["sums"].items()) {
    const std::string path = place.file(name);
    if (TRY(is_same(manifest["looks"], name, path, sum))) continue;
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

json json_of(const backend::vm::MachineSize& size) { return json::array({size.cpus, size.memory_mib}); }

Result<Acceleration> acceleration(const Place& place, const plan::HostFacts& facts) {
  return accelerate(TRY(kvm_facts(facts)), kept_proof(place.file(kProof)));
}

// Whether there is one of that size, of what accelerates now, and hutch and QEMU are those that made it.
Result<bool> has_snapshot(json& manifest, const backend::vm::MachineSize& size, backend::vm::Accelerator accelerator) {
  const json made_by = manifest.value("snapshot", json());
  if (!made_by.is_object() || made_by.value("size", json()) != json_of(size)) return false;
  if (made_by.value("accelerator", json("tcg")) != name_of(accelerator)) return false;
  for (const auto& [name, path] : TRY(parts_of_snapshot())) {
    if (!TRY(is_same(manifest["looks"], name, path, made_by.value(name, json())))) return false;
  }
  return true;
}

Result<backend::vm::VmBackend::Settings> settings_of(const Place& place, const std::string& files, const json& manifest,
                                                     const plan::HostFacts& facts) {
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

// Of a machine that has started, in the directory `into`: the next ones begin there.
Status add_snapshot(const Place& place, const std::string& files, const std::string& into, json& manifest,
                    const plan::HostFacts& facts, const TellImage& tell) {
  if (!sys::exists(backend::vm::kQemu)) return fail(Error::unsupported(cat({backend::vm::kQemu, " is missing"})));
  auto settings = TRY(settings_of(place, files, manifest, facts));
  const backend::vm::SnapshotFiles snapshot{cat({into, "/", kMemory}), cat({into, "/state"}),
                                            cat({into, "/initramfs"})};
  backend::NamespaceBackend jails;
  backend::StartOptions options;
  options.guest_program = TRY(guest_program());
  options.landlock_abi = facts.landlock_abi;
  settings.accelerator = TRY(find_accelerator(settings, cat({into, "/", kProof}), jails, options, facts, tell));
  tell("starting a machine, to save it");
  TRY(backend::vm::save_snapshot(settings, snapshot, jails, options));
  json made_by = json::object();
  for (const auto& [name, path] : TRY(parts_of_snapshot())) made_by[name] = TRY(sum_of(path));
  manifest["sums"][kMemory] = TRY(sum_of_named(kMemory, snapshot.memory));
  manifest["sums"]["state"] = TRY(sum_of(snapshot.state));
  manifest["sums"]["initramfs"] = TRY(sum_of(snapshot.initramfs));
  made_by["size"] = json_of(settings.usual);
  made_by["accelerator"] = name_of(settings.accelerator);
  manifest["snapshot"] = std::move(made_by);
  return {};
}

}  // namespace

Status provision_vm(const VmProvisionRequest& request, const plan::HostFacts& facts, const TellImage& tell) {
  if (facts.architecture != "x86_64") {
    return fail(
        Error::unsupported(cat({"virtual machines of ", facts.architecture, " are not provisioned by this version"})));
  }
  const Place place = TRY(place_of(facts));
  const std::string fresh = new_place(place);
  TRY(sys::make_private_directories(place.top));
  remove_begun(place);
  (void)sys::remove_tree(fresh);
  TRY(sys::make_private_directories(fresh));
  const auto make = [&]() -> Status {
    const bool is_path = !request.root.empty() && request.root != "-";
    const std::string root = is_path ? TRY(sys::canonical_path(request.root)) : request.root;
    json manifest = json{{"form", kForm}, {"request", {{"kernel", request.kernel}, {"root", root}}}};
    TRY(fetch_kernel(fresh, request.kernel.empty() ? kKernelPackage : request.kernel, tell, manifest));
    TRY(make_root(fresh, request.root, facts, tell));
    manifest["sums"]["system"] = TRY(sum_of(cat({fresh, "/system"})));
    const Status saved = add_snapshot(place, fresh, fresh, manifest, facts, tell);
    if (!saved) tell(cat({"no machine is saved, each start takes longer: ", saved.error().message}));
    return sys::replace_file(cat({fresh, "/manifest.json"}), manifest.dump(1));
  };
  Status made = make();
  if (made) {
    (void)sys::remove_tree(place.file(""));
    made = sys::rename_at(sys::kCwd, fresh, sys::kCwd, cat({place.top, "/files"}), sys::Replacing::kAllowed);
  }
  if (!made) (void)sys::remove_tree(fresh);
  return made;
}

Status refresh_vm(const plan::HostFacts& facts, const TellImage& tell) {
  const Place place = TRY(place_of(facts));
  json manifest = TRY(manifest_of(place));
  const store::MachineSettings machines = TRY(store::MachineSettingsFile(place.config).read());
  const KvmFacts kvm = TRY(kvm_facts(facts));
  const std::optional<KvmProof> proof = kept_proof(place.file(kProof));
  const bool is_tried = !wants_proof(kvm, proof);
  const auto accelerator = accelerate(kvm, proof).accelerator;
  if (is_tried && TRY(has_snapshot(manifest, usual_size(machines), accelerator))) return {};
  TRY(verify(place, manifest));
  const std::string fresh = new_place(place);
  remove_begun(place);
  (void)sys::remove_tree(fresh);
  TRY(sys::make_private_directories(fresh));
  if (proof) TRY(sys::replace_file(cat({fresh, "/", kProof}), kvm_proof_json(*proof)));
  const json before = manifest;
  Status made = add_snapshot(place, place.file(""), fresh, manifest, facts, tell);
  const auto put = [&]() -> Status {
    // Whoever starts a machine meanwhile boots it.
    json without = before;
    without.erase("snapshot");
    for (const std::string_view name : kOfSnapshot) without["sums"].erase(std::string(name));
    TRY(sys::replace_file(place.file("manifest.json"), without.dump(1)));
    for (const std::string_view name : kOfSnapshot) {
      TRY(sys::rename_file(cat({fresh, "/", name}), place.file(name)));
    }
    const std::string tried = cat({fresh, "/", kProof});
    if (sys::exists(tried)) TRY(sys::rename_file(tried, place.file(kProof)));
    return sys::replace_file(place.file("manifest.json"), manifest.dump(1));
  };
  if (made) made = put();
  (void)sys::remove_tree(fresh);
  return made;
}

Result<VmProvisionRequest> last_vm_request(const plan::HostFacts& facts) {
  const Place place = TRY(place_of(facts));
  const json manifest = TRY(manifest_of(place));
  const json request = manifest.value("request", json::object());
  const auto text = [&](const char* key) {
    const json value = request.is_object() ? request.value(key, json()) : json();
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  return VmProvisionRequest{text("kernel"), text("root")};
}

Result<VmStatus> vm_status(const plan::HostFacts& facts) {
  const Place place = TRY(place_of(facts));
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
  const Place place = TRY(place_of(facts));
  return sys::exists(place.top) ? sys::remove_tree(place.top) : Status();
}

Result<backend::vm::VmBackend::Settings> vm_settings(const plan::HostFacts& facts) {
  const Place place = TRY(place_of(facts));
  if (!sys::exists(backend::vm::kQemu)) {
    return fail(Error::unsupported("QEMU is missing; apt-get install qemu-system-x86"));
  }
  json manifest = TRY(manifest_of(place));
  const json before = manifest;
  TRY(verify(place, manifest));
  auto settings = TRY(settings_of(place, cat({place.top, "/files"}), manifest, facts));
  settings.accelerator = TRY(acceleration(place, facts)).accelerator;
  if (TRY(has_snapshot(manifest, settings.usual, settings.accelerator))) {
    settings.snapshot.emplace(
        backend::vm::SnapshotFiles{place.file(kMemory), place.file("state"), place.file("initramfs")});
  }
  if (manifest != before) TRY(sys::replace_file(place.file("manifest.json"), manifest.dump(1)));
  return settings;
}

}  // namespace hutch::service
