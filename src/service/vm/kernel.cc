// The kernel of virtual machines.
#include "service/vm/kernel.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "host/machine/isolation_facts.h"
#include "service/common/told_program.h"
#include "service/vm/kernel_image.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/journal.h"
#include "sys/files/tree.h"
#include "sys/files/whole_file.h"
#include "sys/io.h"
#include "sys/process/host_info.h"

namespace hutch::service {

namespace {

constexpr const char* kPathVariable = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
constexpr std::size_t kModuleBytesMax = 64 << 20;

// In the order in which the kernel is to have them; those that it has built in are no files.
constexpr std::array<std::string_view, 20> kModules = {"drivers/virtio/virtio_ring",
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
                                                       "crypto/crc32c_generic",
                                                       "lib/crc16",
                                                       "fs/mbcache",
                                                       "fs/jbd2/jbd2",
                                                       "fs/ext4/ext4"};

// Into the current directory's "fetched".
constexpr const char* kFetch = R"sh(set -e
mkdir fetched
cd fetched
package=$(apt-cache depends -- "$1" | sed -n 's/^ *Depends: *\(linux-image[^ ]*\)$/\1/p' | head -n 1)
apt-get download -q -- "${package:-$1}"
)sh";

struct KernelPacking {
  std::string_view ending;
  const char* unpack;  // $1 is the file, and what it holds is its output
  std::string_view program;
  std::string_view package;  // that it is of
};
// As distributions keep them; the first is not packed at all.
constexpr std::array kKernelPackings = {KernelPacking{".ko", "cat -- \"$1\"", "cat", "coreutils"},
                                        KernelPacking{".ko.xz", "xz -dc -- \"$1\"", "xz", "xz-utils"},
                                        KernelPacking{".ko.zst", "zstd -dcq -- \"$1\"", "zstd", "zstd"},
                                        KernelPacking{".ko.gz", "gzip -dc -- \"$1\"", "gzip", "gzip"}};

Status run_shell(const char* script, std::vector<std::string> words, const TellImage& tell) {
  std::vector<std::string> arguments = {"sh", "-c", script, "sh"};
  for (std::string& word : words) arguments.push_back(std::move(word));
  return run_told("/bin/sh", std::move(arguments), {kPathVariable}, tell);
}

Result<std::string> only_name(const std::string& directory, std::string_view prefix, std::string_view suffix) {
  const UniqueFd listing = TRY(sys::open_listing(directory));
  for (const sys::TreeEntry& entry : TRY(sys::names_in(listing.get(), directory))) {
    if (entry.name.starts_with(prefix) && entry.name.ends_with(suffix)) return entry.name;
  }
  return fail(
      Error::not_found(cat({directory, ": nothing named ", prefix, "*", suffix, ": is that package a kernel's?"})));
}

// Those that are in `directory` ("/lib/modules/RELEASE"); the kernel has the others built in, or does without.
Result<std::vector<std::string>> take_modules(const std::string& directory, const std::string& into,
                                              const TellImage& tell) {
  std::vector<std::string> taken;
  for (const std::string_view module : kModules) {
    const std::string stem = cat({directory, "/kernel/", module});
    for (const KernelPacking& packing : kKernelPackings) {
      const std::string found = cat({stem, packing.ending});
      if (!sys::exists(found)) continue;
      if (host::find_system_program(packing.program).empty()) {
        return fail(
            Error::unsupported(cat({"the kernel's modules (", packing.ending, ") are unpacked by ", packing.program,
                                    ", which is missing; apt-get install ", packing.package})));
      }
      const std::string name = cat({"module-", module.substr(module.rfind('/') + 1)});
      const std::string script = cat({packing.unpack, " > \"$2\""});
      // Whatever else it is would not end, or not be a module's.
      TRY(sys::regular_file_text(found, kModuleBytesMax));
      TRY(run_shell(script.c_str(), {found, cat({into, "/", name})}, tell));
      taken.push_back(name);
      break;
    }
  }
  return taken;
}

// Where there is one of that name here.
std::string own_modules(const std::string& release) { return cat({"/lib/modules/", release}); }

}  // namespace

bool is_kernel_path(const std::string& kernel) { return kernel.contains('/'); }

Status fetch_kernel_package(const std::string& package, const std::string& into, const TellImage& tell) {
  tell(cat({"fetching the kernel of ", package}));
  const std::string script = cat({"cd \"$2\"\n", kFetch});
  TRY_CTX(run_shell(script.c_str(), {package, into}, tell), "fetch the kernel");
  const std::string fetched = cat({into, "/fetched"});
  const std::string name = TRY(only_name(fetched, "", ".deb"));
  return sys::rename_file(cat({fetched, "/", name}), cat({into, "/", kKernelPackage}));
}

Result<VmKernel> unpack_kernel_package(const std::string& package, const std::string& into, const TellImage& tell) {
  const std::string tree = cat({into, "/tree"});
  TRY_CTX(run_shell(R"sh(dpkg-deb -x "$1" "$2")sh", {package, tree}, tell), "unpack the kernel");
  const std::string image = TRY(only_name(cat({tree, "/boot"}), "vmlinuz-", ""));
  VmKernel kernel{.release = image.substr(std::string_view("vmlinuz-").size()), .modules = {}};
  // Where /lib is a link to /usr/lib packages have their files below that.
  const std::string usr = sys::exists(cat({tree, "/usr/lib/modules"})) ? "/usr" : "";
  kernel.modules = TRY(take_modules(cat({tree, usr, "/lib/modules/", kernel.release}), into, tell));
  TRY(sys::rename_file(cat({tree, "/boot/", image}), cat({into, "/kernel"})));
  TRY(sys::remove_tree(tree));
  return kernel;
}

Result<VmKernel> take_kernel(const std::string& path, const std::string& modules, const std::string& into,
                             const TellImage& tell) {
  tell(cat({"taking the kernel ", printable(path)}));
  const std::string image = TRY_CTX(sys::regular_file_text(path, kKernelBytesMax), "--kernel");
  VmKernel kernel{.release = TRY_CTX(kernel_release(image), printable(path)), .modules = {}};
  TRY(sys::replace_file(cat({into, "/kernel"}), image));
  const std::string directory = modules.empty() ? own_modules(kernel.release) : modules;
  if (!sys::exists(directory) && modules.empty()) return kernel;
  kernel.modules = TRY_CTX(take_modules(directory, into, tell), printable(directory));
  const bool is_of_kernel = !kernel.modules.empty() || sys::exists(cat({directory, "/modules.builtin"}));
  if (is_of_kernel || modules.empty()) return kernel;
  return fail(Error::not_found(cat({"--modules ", printable(directory), ": no module of a kernel's is below its ",
                                    "kernel/, nor does it have modules.builtin; /lib/modules/", kernel.release,
                                    " of the machine that the kernel is from is the like"})));
}

}  // namespace hutch::service
