// The tree of mounts of a plan.
#include "guest/setup/tree.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <vector>

#include "base/text.h"
#include "base/unique_fd.h"
#include "guest/setup/account.h"
#include "plan/quotas.h"
#include "sys/files/beneath.h"
#include "sys/files/create.h"
#include "sys/files/delegate.h"
#include "sys/files/files.h"
#include "sys/files/mounts.h"
#include "sys/io.h"

namespace hutch::guest {

namespace {

// Where the new root hangs until it is the root: /proc is everywhere, and no plan binds anything from it.
constexpr const char* kStagingPoint = "/proc";

// Of a directory that stands only for what is below it: it cannot be listed.
constexpr unsigned kPassedDirectoryMode = 0111;

constexpr std::array<const char*, 6> kDevices = {"null", "zero", "full", "random", "urandom", "tty"};

// The directory that has a name: most are of the root itself.
struct Above {
  UniqueFd opened{};
  int root = -1;
  int get() const { return opened ? opened.get() : root; }
};

Result<UniqueFd> attach_first(const plan::MountStep& step, UniqueFd given);
Result<UniqueFd> attach_root(const plan::MountStep& step);
Result<UniqueFd> attach_given(UniqueFd given);
Result<UniqueFd> attach_image(const plan::MountStep& step);
Status bring_in(int scratch, const char* name, const UniqueFd& tree);
Status make_mount_directory(int root, const std::string& path, unsigned mode);
Result<UniqueFd> make_file(int root, const std::string& path, unsigned mode);
Result<Above> directory_above(int root, const std::string& path);
std::string last_name(const std::string& path);
Result<UniqueFd> writable_copy(int root, int directory, const std::string& name, std::span<const std::string> own);
Status apply(int root, const plan::MountStep& step);
Status mount_tmpfs(int root, const plan::MountStep& step);
Result<UniqueFd> new_tmpfs(const plan::MountStep& step);
Result<UniqueFd> copy_of(int root, const plan::MountStep& step);
bool is_missing(int root, const std::string& path);
Status write_new_link(int root, const plan::MountStep& step);
Status write_new_file(int root, const plan::MountStep& step);
Status mount_bind(int root, const plan::MountStep& step);
Status mount_cover(int root, const plan::MountStep& step);
bool is_file(int root, const std::string& path);
Status mount_hidden_file(int root, const plan::MountStep& step);
Result<UniqueFd> device_that_cannot_be_opened(const std::string& target);
Status mount_proc(int root, const plan::MountStep& step);
Status mount_devices(int root, const plan::MountStep& step);
Result<UniqueFd> new_terminals();
Status seal(int root, const plan::MountStep& step);
Status mount_opened(int root, const plan::MountStep& step, int source);
Status bind_device(int devices, const std::string& name);
Status place(int root, const plan::MountStep& step, int tree);
Status make_target(int root, const plan::MountStep& step);
Status check_identity(int fd, const plan::MountStep& step);
bool covers_host(const plan::MountStep& step);
Status check_cover(int root, const std::string& path);
std::string without_root(const std::string& path);
std::string octal(unsigned mode);

}  // namespace

Status build_tree(const plan::SandboxPlan& plan, UniqueFd given) {
  TRY(sys::make_all_private());
  if (plan.mounts.empty()) return fail(Error::invalid("a plan without a root"));
  const plan::MountStep& first = plan.mounts.front();
  const UniqueFd root = TRY_CTX(attach_first(first, std::move(given)), "mount the root");
  TRY(add_mounts(root.get(), std::span(plan.mounts).subspan(1)));
  TRY(sys::change_directory(root.get()));
  return sys::pivot_to_cwd();
}

Status add_mounts(int root, std::span<const plan::MountStep> steps) {
  for (const plan::MountStep& step : steps) TRY_CTX(apply(root, step), step.target);
  return {};
}

// A source is opened before the first mount: by its path it could not be found any more (a program below /tmp).
Status add_mounts_over_host(int root, std::span<const plan::MountStep> steps) {
  std::vector<UniqueFd> sources(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].kind != plan::MountKind::kBind) continue;
    sources[i] = TRY_CTX(sys::open_exact(steps[i].source), steps[i].target);
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Status done = sources[i] ? mount_opened(root, steps[i], sources[i].get()) : apply(root, steps[i]);
    TRY_CTX(done, steps[i].target);
  }
  return {};
}

Result<UniqueFd> make_cover(const plan::MountStep& step) {
  if (step.kind == plan::MountKind::kHideFile) return device_that_cannot_be_opened(step.target);
  if (step.kind != plan::MountKind::kTmpfs) return fail(Error::invalid("a cover that hides nothing"));
  UniqueFd tree = TRY(new_tmpfs(step));
  TRY(sys::restrict_mount(tree.get(), step.target, {.read_only = true, .no_devices = true}));
  return tree;
}

Status add_cover(int root, std::span<const plan::MountStep> steps) {
  std::vector<UniqueFd> kept;
  for (const plan::MountStep& step : steps) {
    auto copy = step.kind == plan::MountKind::kBind ? copy_of(root, step) : Result<UniqueFd>(UniqueFd());
    kept.push_back(copy ? std::move(*copy) : UniqueFd());
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool is_bind = steps[i].kind == plan::MountKind::kBind;
    if (!is_bind) TRY_CTX(apply(root, steps[i]), steps[i].target);
    if (is_bind && kept[i]) TRY_CTX(place(root, steps[i], kept[i].get()), steps[i].target);
  }
  return {};
}

Status make_names(int root, std::span<const plan::MountStep> steps) {
  using enum plan::MountKind;
  for (const plan::MountStep& step : steps) {
    const bool is_name =
        step.kind == kDirectory || step.kind == kSymlink || step.kind == kFile || step.kind == kAccount;
    if (is_name) TRY_CTX(apply(root, step), step.target);
  }
  return {};
}

// The deepest directory that is there has to be of the sandbox's own: a name that is made in another is the host's.
Result<UniqueFd> make_mount_point(int root, const std::string& target, plan::MakeTarget make,
                                  std::span<const std::string> own) {
  std::string above = without_root(target);
  std::string rest;
  UniqueFd there;
  while (!there) {
    const std::size_t slash = above.rfind('/');
    const std::string name = slash == std::string::npos ? above : above.substr(slash + 1);
    rest = rest.empty() ? name : cat({name, "/", rest});
    above = slash == std::string::npos ? "." : above.substr(0, slash);
    auto found = sys::open_beneath(root, above);
    if (found) there = std::move(*found);
    if (!found && (found.error().sys_errno != ENOENT || above == ".")) return fail(std::move(found).error());
  }
  // If the sandbox may write in a directory, it may also write the missing directories on the way to the target. It
  // cannot list those of a private home, because the host's are hidden.
  const bool sealed = TRY(sys::is_on_read_only_mount(there.get()));
  const bool is_layer = !sealed && !TRY(sys::is_on_tmpfs(there.get()));
  const unsigned mode = is_layer ? 0755 : sealed ? kPassedDirectoryMode : kPassedDirectoryMode | 0200;
  const UniqueFd copy = TRY(writable_copy(root, there.get(), target, own));
  for (std::size_t slash = rest.find('/'); slash != std::string::npos; slash = rest.find('/', slash + 1)) {
    TRY(make_mount_directory(copy.get(), rest.substr(0, slash), mode));
  }
  if (make == plan::MakeTarget::kFile) {
    // Whoever looks before the mount lies there is to see that nothing is there yet (guest/calls/questions).
    TRY(make_file(copy.get(), rest, 0));
  } else {
    TRY(make_mount_directory(copy.get(), rest, kPassedDirectoryMode));
  }
  return sys::open_beneath(root, target);
}

Status remove_mount_point(int root, const std::string& target, std::span<const std::string> own) {
  const Above above = TRY(directory_above(root, without_root(target)));
  const UniqueFd copy = TRY(writable_copy(root, above.get(), target, own));
  Status removed = sys::unlink_at(copy.get(), last_name(target));
  if (!removed && removed.error().sys_errno == EISDIR)
    removed = sys::remove_directory_at(copy.get(), last_name(target));
  return removed;
}

Status seal_mounts(const plan::SandboxPlan& plan) {
  const UniqueFd root = TRY(sys::open_exact("/"));
  for (const plan::MountStep& step : plan.mounts) {
    if (step.kind == plan::MountKind::kSeal) TRY_CTX(seal(root.get(), step), step.target);
  }
  return {};
}

Status verify_tree(const plan::SandboxPlan& plan) {
  const UniqueFd root = TRY(sys::open_exact("/"));
  for (const plan::MountStep& step : plan.mounts) {
    if (step.kind != plan::MountKind::kBind || step.identity == plan::Identity{}) continue;
    const UniqueFd target = TRY(sys::open_beneath(root.get(), step.target));
    TRY_CTX(check_identity(target.get(), step), step.target);
  }
  return {};
}

Status check_covers(const plan::SandboxPlan& plan, std::span<const std::string> hidden) {
  const UniqueFd root = TRY(sys::open_exact("/"));
  for (const plan::MountStep& step : plan.mounts) {
    const auto hides = [&](const std::string& path) { return path != step.target && is_within(step.target, path); };
    const bool may_be_gone = covers_host(step) && std::ranges::any_of(hidden, hides);
    if (may_be_gone && is_missing(root.get(), step.target)) continue;
    if (covers_host(step)) TRY(check_cover(root.get(), step.target));
  }
  for (const auto& names : {plan.read_only_proc, plan.hidden_proc}) {
    for (const std::string& name : names) TRY(check_cover(root.get(), cat({"/proc/", name})));
  }
  return {};
}

// Opened first: a change is announced to whoever opened the list before it.
Result<UniqueFd> watch_covers(const plan::SandboxPlan& plan) {
  UniqueFd mounts = TRY(sys::open("/proc/self/mountinfo", sys::Open::kRead));
  TRY(check_covers(plan));
  return mounts;
}

// This mounts over bubblewrap's /dev/pts, because bubblewrap has no option for the limit. A process that owns only the
// mount cannot change the file system.
Status limit_terminals() {
  const UniqueFd terminals = TRY(new_terminals());
  const UniqueFd onto = TRY(sys::open_exact("/dev/pts"));
  return sys::attach(terminals.get(), onto.get(), "/dev/pts");
}

Status restrict_devices() {
  for (const char* name : kDevices) {
    const std::string path = cat({"/dev/", name});
    const UniqueFd device = TRY(sys::open_exact(path));
    TRY(sys::restrict_mount(device.get(), path, {.read_only = true}));
  }
  return {};
}

Status restrict_proc(const plan::SandboxPlan& plan) {
  for (const std::string& name : plan.read_only_proc) {
    const std::string path = cat({"/proc/", name});
    const UniqueFd found = TRY(sys::open_exact(path));
    const UniqueFd tree = TRY(sys::clone_tree(found.get(), path));
    TRY(sys::restrict_tree(tree.get(), path, {.read_only = true, .no_devices = true}));
    TRY(sys::attach(tree.get(), found.get(), path));
  }
  UniqueFd cover;
  for (const std::string& name : plan.hidden_proc) {
    const std::string path = cat({"/proc/", name});
    const UniqueFd found = TRY(sys::open_exact(path));
    // A copy of the last one has its restrictions.
    cover = TRY(cover ? sys::clone_tree(cover.get(), path) : device_that_cannot_be_opened(path));
    TRY(sys::attach(cover.get(), found.get(), path));
  }
  return {};
}

namespace {

Result<UniqueFd> attach_first(const plan::MountStep& step, UniqueFd given) {
  if (step.kind == plan::MountKind::kImage) return attach_image(step);
  return step.kind == plan::MountKind::kGivenRoot ? attach_given(std::move(given)) : attach_root(step);
}

Result<UniqueFd> attach_root(const plan::MountStep& step) {
  UniqueFd tree = TRY(sys::new_file_system(
      "tmpfs", {{"size", std::to_string(step.size_bytes)}, {"mode", octal(step.mode)}}, {.no_devices = true}));
  const UniqueFd onto = TRY(sys::open_exact(kStagingPoint));
  TRY(sys::attach(tree.get(), onto.get(), "the new root"));
  return tree;
}

Result<UniqueFd> attach_given(UniqueFd given) {
  if (!given) return fail(Error::invalid("a plan without its root"));
  TRY(sys::restrict_mount(given.get(), "the given root", {.no_devices = true}));
  const UniqueFd onto = TRY(sys::open_exact(kStagingPoint));
  TRY(sys::attach(given.get(), onto.get(), "the given root"));
  return given;
}

// An overlay in a user namespace (kernel 5.11) keeps its marks in user.overlay attributes. Its parts are named from a
// directory of this process's own: no path of the host is looked up a second time.
Result<UniqueFd> attach_image(const plan::MountStep& step) {
  const UniqueFd image = TRY(sys::open_exact(step.source));
  TRY(check_identity(image.get(), step));
  sys::MountOptions options = {{"mode", "755"}};
  if (step.size_bytes != 0) options.emplace_back("size", std::to_string(step.size_bytes));
  const UniqueFd scratch = TRY(sys::new_file_system("tmpfs", options, {.no_devices = true}));
  const UniqueFd onto = TRY(sys::open_exact(kStagingPoint));
  TRY(sys::attach(scratch.get(), onto.get(), "the image's parts"));
  const UniqueFd lower = TRY(sys::clone_tree(image.get(), step.source));
  TRY(sys::restrict_tree(lower.get(), step.source, {.read_only = true, .no_devices = true}));
  TRY(bring_in(scratch.get(), "image", lower));
  if (step.layer.empty()) {
    TRY(make_mount_directory(scratch.get(), "layer", 0755));
  } else {
    const UniqueFd kept = TRY(sys::open_exact(step.layer));
    const UniqueFd layer = TRY(sys::clone_tree(kept.get(), step.layer));
    TRY(sys::restrict_tree(layer.get(), step.layer, {.no_devices = true}));
    TRY(bring_in(scratch.get(), "layer", layer));
  }
  const Status begun = sys::make_directory(scratch.get(), "layer/files", 0755);
  if (!begun && begun.error().sys_errno != EEXIST) return fail(begun.error());
  TRY(make_mount_directory(scratch.get(), "layer/work", 0755));
  // What "/" looks like is the layer's to say, from its beginning on.
  const UniqueFd files = TRY(sys::open_beneath(scratch.get(), "layer/files", sys::Beneath::kListing));
  if (begun) TRY(sys::copy_owner_and_mode(image.get(), files.get()));
  TRY(sys::change_directory(scratch.get()));
  UniqueFd root = TRY(sys::new_file_system(
      "overlay", {{"lowerdir", "image"}, {"upperdir", "layer/files"}, {"workdir", "layer/work"}, {"userxattr", ""}},
      {.no_devices = true}));
  TRY(sys::attach(root.get(), scratch.get(), "the image"));
  return root;
}

Status bring_in(int scratch, const char* name, const UniqueFd& tree) {
  TRY(make_mount_directory(scratch, name, 0755));
  const UniqueFd onto = TRY(sys::open_beneath(scratch, name));
  return sys::attach(tree.get(), onto.get(), name);
}

// Of a directory of the sandbox's own.
Result<UniqueFd> writable_copy(int root, int directory, const std::string& name, std::span<const std::string> own) {
  const sys::FileIdentity found = TRY(sys::identify(directory));
  bool is_own = false;
  for (const std::string& path : own) {
    const auto of = sys::open_beneath(root, path);
    is_own = is_own || (of && TRY(sys::identify(of->get())).device == found.device);
  }
  if (!is_own) return fail(Error::from_errno(cat({"a mount point at ", name}), EROFS));
  UniqueFd copy = TRY(sys::clone_tree(directory, name));
  TRY(sys::allow_writing(copy.get(), name));
  return copy;
}

Status apply(int root, const plan::MountStep& step) {
  switch (step.kind) {
    case plan::MountKind::kTmpfs: return mount_tmpfs(root, step);
    case plan::MountKind::kDirectory: return make_mount_directory(root, without_root(step.target), step.mode);
    case plan::MountKind::kSymlink: return write_new_link(root, step);
    case plan::MountKind::kFile: return write_new_file(root, step);
    case plan::MountKind::kBind: return mount_bind(root, step);
    case plan::MountKind::kHideFile: return mount_hidden_file(root, step);
    case plan::MountKind::kCover: return mount_cover(root, step);
    case plan::MountKind::kProc: return mount_proc(root, step);
    case plan::MountKind::kDevices: return mount_devices(root, step);
    case plan::MountKind::kSeal: return seal(root, step);
    case plan::MountKind::kAccount: return add_account(root, step);
    case plan::MountKind::kImage:
    case plan::MountKind::kEngineRoot:
    case plan::MountKind::kGivenRoot: return fail(Error::invalid("an image in the middle of a plan"));
  }
  return {};
}

Status mount_tmpfs(int root, const plan::MountStep& step) {
  const UniqueFd tree = TRY(new_tmpfs(step));
  return place(root, step, tree.get());
}

Result<UniqueFd> new_tmpfs(const plan::MountStep& step) {
  sys::MountOptions options = {{"mode", octal(step.mode)}};
  if (step.size_bytes != 0) {
    options.emplace_back("size", std::to_string(step.size_bytes));
    options.emplace_back("nr_inodes",
                         std::to_string(std::max(step.size_bytes / plan::kTmpfsInodeBytes, plan::kTmpfsInodesMin)));
  }
  return sys::new_file_system("tmpfs", options, {.no_devices = true});
}

Result<UniqueFd> copy_of(int root, const plan::MountStep& step) {
  const UniqueFd source = TRY(sys::open_beneath(root, step.source));
  TRY(check_identity(source.get(), step));
  return sys::clone_tree(source.get(), step.source);
}

Status write_new_link(int root, const plan::MountStep& step) {
  const Above above = TRY(directory_above(root, without_root(step.target)));
  const std::string name = last_name(step.target);
  Status made = sys::make_symlink(step.source, above.get(), name);
  if (made || made.error().sys_errno != EEXIST) return made;
  // A layer has it of an earlier start.
  const auto text = sys::link_text(above.get(), name);
  return text && *text == step.source ? Status() : made;
}

Status write_new_file(int root, const plan::MountStep& step) {
  const UniqueFd file = TRY(make_file(root, without_root(step.target), step.mode));
  return sys::write_all(file.get(), step.source);
}

Status mount_bind(int root, const plan::MountStep& step) {
  const UniqueFd source = TRY(sys::open_exact(step.source));
  return mount_opened(root, step, source.get());
}

Status mount_opened(int root, const plan::MountStep& step, int source) {
  TRY(check_identity(source, step));
  const UniqueFd tree = TRY(sys::clone_tree(source, step.source));
  const bool read_only = step.access == plan::Access::kReadOnly;
  TRY(sys::restrict_tree(tree.get(), step.source, {.read_only = read_only, .no_devices = true}));
  return place(root, step, tree.get());
}

Status mount_cover(int root, const plan::MountStep& step) {
  if (step.identity == plan::Identity{} && !is_file(root, step.target)) return {};
  const UniqueFd file = TRY(sys::open_beneath(root, step.source));
  const UniqueFd tree = TRY(sys::clone_tree(file.get(), step.source));
  TRY(sys::restrict_tree(tree.get(), step.source, {.read_only = true, .no_devices = true}));
  return place(root, step, tree.get());
}

// A link is none: what it leads to has a cover of its own, or is not where systems keep such a file.
bool is_file(int root, const std::string& path) {
  const auto found = sys::open_beneath(root, without_root(path));
  const auto is = found ? sys::identify(found->get()) : Result<sys::FileIdentity>(fail(found.error()));
  return is && S_ISREG(is->mode);
}

Status mount_hidden_file(int root, const plan::MountStep& step) {
  const UniqueFd tree = TRY(device_that_cannot_be_opened(step.target));
  return place(root, step, tree.get());
}

// By anybody, as it is a device on a mount that allows none: mount(2), MS_NODEV.
Result<UniqueFd> device_that_cannot_be_opened(const std::string& target) {
  UniqueFd tree = TRY(sys::clone_tree_at("/dev/null"));
  TRY(sys::restrict_tree(tree.get(), target, {.read_only = true, .no_devices = true}));
  return tree;
}

Status mount_proc(int root, const plan::MountStep& step) {
  const UniqueFd tree = TRY(sys::new_file_system("proc", {}, {.no_devices = true}));
  return place(root, step, tree.get());
}

Status mount_devices(int root, const plan::MountStep& step) {
  const UniqueFd devices =
      TRY(sys::new_file_system("tmpfs", {{"mode", "755"}, {"size", "65536"}}, {.no_devices = true}));
  TRY(place(root, step, devices.get()));
  for (const char* name : kDevices) TRY(bind_device(devices.get(), name));
  if (!step.source.empty()) TRY(bind_device(devices.get(), step.source));
  TRY(make_mount_directory(devices.get(), "pts", 0755));
  TRY(make_mount_directory(devices.get(), "shm", 0755));
  const UniqueFd terminals = TRY(new_terminals());
  const UniqueFd onto = TRY(sys::open_beneath(devices.get(), "pts"));
  TRY(sys::attach(terminals.get(), onto.get(), "/dev/pts"));
  TRY(sys::make_symlink("pts/ptmx", devices.get(), "ptmx"));
  TRY(sys::make_symlink("/proc/self/fd", devices.get(), "fd"));
  TRY(sys::make_symlink("/proc/self/fd/0", devices.get(), "stdin"));
  TRY(sys::make_symlink("/proc/self/fd/1", devices.get(), "stdout"));
  return sys::make_symlink("/proc/self/fd/2", devices.get(), "stderr");
}

Result<UniqueFd> new_terminals() {
  return sys::new_file_system(
      "devpts",
      {{"newinstance", ""}, {"ptmxmode", "0666"}, {"mode", "620"}, {"max", std::to_string(plan::kTerminalsMax)}}, {});
}

Status seal(int root, const plan::MountStep& step) {
  const UniqueFd found = TRY(sys::open_beneath(root, step.target));
  return sys::restrict_mount(found.get(), step.target, {.read_only = true, .no_devices = true});
}

// Read-only: reading and writing a device goes on, but its mode, owner and times, which are the host's, stay.
Status bind_device(int devices, const std::string& name) {
  const std::string source = cat({"/dev/", name});
  const UniqueFd tree = TRY(sys::clone_tree_at(source));
  TRY(sys::restrict_tree(tree.get(), source, {.read_only = true}));
  const UniqueFd onto = TRY(make_file(devices, name, 0644));
  return sys::attach(tree.get(), onto.get(), source);
}

Status place(int root, const plan::MountStep& step, int tree) {
  TRY(make_target(root, step));
  const UniqueFd onto = TRY(sys::open_beneath(root, step.target));
  // Over something that is there, the planned identity is that of what gets covered as well: a rule that hides or
  // protects a name must land on the file that was looked at.
  const bool covers = step.make == plan::MakeTarget::kNothing;
  if (covers && (step.kind != plan::MountKind::kBind || step.source == step.target)) {
    TRY(check_identity(onto.get(), step));
  }
  return sys::attach(tree, onto.get(), step.target);
}

Status make_target(int root, const plan::MountStep& step) {
  switch (step.make) {
    case plan::MakeTarget::kNothing: return {};
    case plan::MakeTarget::kDirectory: return make_mount_directory(root, without_root(step.target), 0755);
    case plan::MakeTarget::kFile: TRY(make_file(root, without_root(step.target), 0644)); return {};
  }
  return {};
}

// An image may have any name in any form, a link to a directory of the host's among them: no link is followed.
Status make_mount_directory(int root, const std::string& path, unsigned mode) {
  const Above above = TRY(directory_above(root, path));
  Status made = sys::make_directory(above.get(), last_name(path), mode);
  if (made || made.error().sys_errno != EEXIST) return made;
  const UniqueFd there = TRY(sys::open_beneath(above.get(), last_name(path)));
  const sys::FileIdentity found = TRY(sys::identify(there.get()));
  return S_ISDIR(found.mode) ? Status() : made;
}

Result<UniqueFd> make_file(int root, const std::string& path, unsigned mode) {
  const Above above = TRY(directory_above(root, path));
  auto made = sys::make_file(above.get(), last_name(path), mode);
  if (made || made.error().sys_errno != EEXIST) return made;
  UniqueFd there = TRY(sys::open_beneath(above.get(), last_name(path)));
  const sys::FileIdentity found = TRY(sys::identify(there.get()));
  if (!S_ISREG(found.mode)) return made;
  return there;
}

Result<Above> directory_above(int root, const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return Above{.root = root};
  return Above{.opened = TRY(sys::open_beneath(root, path.substr(0, slash)))};
}

std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Status check_identity(int fd, const plan::MountStep& step) {
  if (step.identity == plan::Identity{}) return {};
  const sys::FileIdentity found = TRY(sys::identify(fd));
  if (found.device == step.identity.device && found.inode == step.identity.inode) return {};
  return fail({Code::kConflict, 0,
               cat({"it was replaced while the sandbox started: fstat(", step.target,
                    ") shows another file than before; start again"})});
}

// What a step makes itself lies on the plan's own tmpfs, which nobody outside sees. A kCover protects nothing: without
// it programs trust less.
Status check_cover(int root, const std::string& path) {
  const auto target = sys::open_beneath(root, path);
  // Behind a directory that this user may not search, nobody in here gets to the name either.
  if (!target && target.error().code == Code::kPermissionDenied) return {};
  if (target && TRY(sys::is_mount_root(target->get()))) return {};
  return fail({Code::kConflict, 0, cat({path, " was replaced outside, and its protection went with it"})});
}

bool is_missing(int root, const std::string& path) {
  const auto found = sys::open_beneath(root, path);
  return !found && (found.error().sys_errno == ENOENT || found.error().sys_errno == ENOTDIR);
}

bool covers_host(const plan::MountStep& step) {
  if (step.make != plan::MakeTarget::kNothing || step.target == "/") return false;
  using enum plan::MountKind;
  return step.kind == kBind || step.kind == kHideFile || step.kind == kTmpfs;
}

std::string without_root(const std::string& path) { return path.substr(path.find_first_not_of('/')); }

std::string octal(unsigned mode) {
  char text[16];
  std::snprintf(text, sizeof text, "%o", mode);
  return text;
}

}  // namespace

}  // namespace hutch::guest
