// Where a caller's path leads.
#include "guest/places/access_place.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include "base/decimal.h"
#include "base/text.h"
#include "sys/files/beneath.h"
#include "sys/io.h"

namespace hutch::guest {

namespace {

struct Split {
  std::string directory;
  std::string name;
};

// "a/b//" is "b//" in "a". Absent where the last component is none that can be made or removed.
std::optional<Split> split_parent(const std::string& path) {
  const std::size_t last = path.find_last_not_of('/');
  if (last == std::string::npos) return std::nullopt;
  const std::size_t slash = path.rfind('/', last);
  const std::size_t start = slash == std::string::npos ? 0 : slash + 1;
  const std::string_view component = std::string_view(path).substr(start, last + 1 - start);
  if (component == "." || component == "..") return std::nullopt;
  if (slash == std::string::npos) return Split{".", path};
  return Split{path.substr(0, slash + 1), path.substr(start)};
}

std::string child_path(const std::string& directory, std::string_view name) {
  name = name.substr(0, name.find('/'));
  return directory == "/" ? cat({"/", name}) : cat({directory, "/", name});
}

// As the kernel follows (path_resolution(7)).
constexpr int kLinksMax = 40;
// Of one path, each from its start: everybody waits meanwhile.
constexpr int kPlaceTriesMax = 64;

std::string below_all(const std::string& directory, std::string_view names) {
  return directory == "/" ? cat({"/", names}) : cat({directory, "/", names});
}

// Whether a path below a process's directory in proc(5) climbs out of it: to processes that the caller cannot see,
// including this one. Behind a magic link ".." belongs to an ordinary directory.
bool climbs_in_proc(std::string_view path) {
  std::string_view before;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view component = path.substr(0, slash);
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
    if (component.empty() || component == ".") continue;
    if (component == "..") return true;
    if (component == "cwd" || component == "root" || before == "fd") return false;
    before = component;
  }
  return false;
}

// Of a path within `root`.
std::string relative(const std::string& path, const std::string& root = "/") {
  if (path == root) return ".";
  return path.substr(root == "/" ? 1 : root.size() + 1);
}

}  // namespace

Places::Places(UniqueFd tree, UniqueFd proc, UniqueFd descriptors, std::vector<Mount> mounts)
    : tree_(std::move(tree)),
      proc_(std::move(proc)),
      descriptors_(std::move(descriptors)),
      mounts_(std::move(mounts)) {}

Result<std::optional<Entry>> Places::entry(const CallerPath& path, std::uint64_t resolve) {
  auto found = TRY(named(path, resolve));
  if (!found || found->path.empty()) return std::optional<Entry>();
  return found;
}

Result<std::optional<NamedPlace>> Places::named(const CallerPath& path, std::uint64_t resolve) {
  std::optional<Split> parts = split_parent(path.text);
  if (!parts) return std::optional<NamedPlace>();
  const CallerPath above_it{path.caller, path.directory, std::move(parts->directory)};
  auto found = directory(above_it, resolve);
  if (!found && is_final(above_it, found.error())) return fail(std::move(found).error());
  if (!found) return std::optional<NamedPlace>();
  NamedPlace place{std::move(*found), std::move(parts->name), {}};
  if (!place.directory->copy) return place;
  std::string above = TRY(sys::path_in(descriptors_.get(), place.directory->seen.get()));
  if (above.front() != '/') return std::optional<NamedPlace>();
  if (place.directory->changes == Directory::Changes::kGranted) {
    std::string name = child_path(above, place.name);
    if (grant_for(name) != nullptr) place.path = std::move(name);
    return place;
  }
  const std::string name = TRY(name_of(place.directory->seen, std::move(above), place.directory->what.mount));
  place.path = child_path(name, place.name);
  return place;
}

bool Places::leads_elsewhere(const CallerPath& path, std::uint64_t resolve) {
  const auto place = named(path, resolve);
  if (!place || !*place || !(*place)->path.empty() || (*place)->name.ends_with('/')) return false;
  const Directory& directory = *(*place)->directory;
  const auto found = sys::look_at_name(directory.seen.get(), (*place)->name);
  if (!found) return found.error().sys_errno == ENOENT;
  if (S_ISLNK(found->mode)) return false;
  if (found->mount == directory.what.mount) return true;
  // A mount on the name leads to another tree.
  const auto mounted = object(path, sys::LastLink::kKeep, resolve);
  return mounted && !*mounted;
}

Result<std::string> Places::path_of(const Entry& entry) const {
  const Directory& directory = *entry.directory;
  const UniqueFd& held = directory.seen ? directory.seen : directory.copy;
  std::string above = TRY(sys::path_in(descriptors_.get(), held.get()));
  if (directory.changes == Directory::Changes::kGranted) return child_path(above, entry.name);
  return child_path(TRY(name_of(held, std::move(above), directory.what.mount)), entry.name);
}

Result<std::optional<Places::EntryPair>> Places::entries(const CallerPath& from, const CallerPath& to) {
  auto first = TRY(entry(from, 0));
  if (!first) return std::optional<EntryPair>();
  const auto parts = split_parent(from.text);
  auto others = split_parent(to.text);
  const bool beside = parts && others && parts->directory == others->directory && from.directory == to.directory;
  if (beside && first->directory->changes == Directory::Changes::kAll) {
    const std::string above = first->path.substr(0, std::max<std::size_t>(first->path.rfind('/'), 1));
    Entry second{first->directory, std::move(others->name), {}};
    second.path = child_path(above, second.name);
    return EntryPair{std::move(*first), std::move(second)};
  }
  auto second = TRY(entry(to, 0));
  if (!second) return std::optional<EntryPair>();
  return EntryPair{std::move(*first), std::move(*second)};
}

// Its name may be another file's by the time it is opened: what is judged and changed is what was opened.
std::optional<Object> Places::plain_object(const CallerPath& path) {
  auto place = entry(path, 0);
  if (!place || !*place || (**place).name.ends_with('/')) return std::nullopt;
  auto handle = sys::open_at((**place).at(), (**place).name, O_PATH, 0);
  if (!handle) return std::nullopt;
  const auto what = sys::look_at(handle->get());
  // What is mounted on a name is of another tree.
  if (!what || S_ISLNK(what->mode) || what->mount != (**place).directory->twin.mount) return std::nullopt;
  if (S_ISCHR(what->mode) || S_ISBLK(what->mode)) return std::nullopt;
  return Object{std::move(**place), std::move(*handle), *what};
}

// The caller's own current directory, above all, need not be opened to be known.
Result<Directories::Shared> Places::directory(const CallerPath& path, std::uint64_t resolve) {
  if (resolve == 0 && path.text == "." && path.directory == AT_FDCWD) {
    const auto what = sys::look_at_directory_of(proc_.get(), path.caller);
    if (what) {
      if (auto found = directories_.find(*what)) return found;
    }
    return known(TRY(sys::directory_of(proc_.get(), path.caller)));
  }
  From from = TRY(start_of(path, resolve));
  if (resolve == 0 && from.path == "." && from.held) return known(std::move(from.held));
  return known(TRY(sys::resolve(from.base, from.path, sys::LastLink::kFollow, resolve)));
}

Result<Directories::Shared> Places::known(UniqueFd seen) {
  const sys::Resolved what = TRY(sys::look_at(seen.get()));
  if (!S_ISDIR(what.mode)) return fail(Error::from_errno("a directory", ENOTDIR));
  if (auto found = directories_.find(what)) return found;
  if (!TRY(sys::is_on_read_only_mount(seen.get()))) return directories_.add({std::move(seen), {}, what, {}});
  if (auto twin = TRY(twin_of(seen))) {
    return directories_.add({std::move(seen), std::move(twin->handle), what, twin->what});
  }
  if (auto granted = TRY(granted_directory(seen, what))) {
    granted->seen = std::move(seen);
    return directories_.add(std::move(*granted));
  }
  // It may have been moved just now.
  return std::make_shared<const Directory>(Directory{std::move(seen), {}, what, {}});
}

// One above a name that may be changed.
Result<std::optional<Directory>> Places::granted_directory(const UniqueFd& seen, const sys::Resolved& what) const {
  if (grants_.empty()) return std::optional<Directory>();
  const std::string path = TRY(sys::path_in(descriptors_.get(), seen.get()));
  for (const Grant& grant : grants_) {
    if (grant.root != path || grant.only == path) continue;
    const sys::Resolved copy = TRY(sys::look_at(grant.tree.get()));
    if (!copy.is_same(what) && !is_own(path, what)) continue;
    return Directory{{}, TRY(sys::resolve_plain(grant.tree.get(), ".")), what, copy, Directory::Changes::kGranted};
  }
  return std::optional<Directory>();
}

// Where the host's directory is hidden the sandbox has one of hutch's own, which nobody in there can move.
bool Places::is_own(const std::string& path, const sys::Resolved& what) const {
  const auto planned = sys::resolve_plain(tree_.get(), relative(path));
  const auto found = planned ? sys::look_at(planned->get()) : Result<sys::Resolved>(sys::Resolved());
  return planned && found && found->is_same(what);
}

template <class Ends>
void Places::end_grants(Ends ends) {
  for (Grant& grant : grants_) {
    if (ends(grant) && grant.is_handed_over) ended_.push_back(std::move(grant.tree));
  }
  std::erase_if(grants_, ends);
}

void Places::grant(Grant grant) {
  end_grants([&](const Grant& other) { return other.only == grant.only; });
  grants_.push_back(std::move(grant));
  directories_.forget();
}

void Places::revoke(const std::string& path) {
  end_grants([&](const Grant& grant) { return is_within(grant.only, path); });
  directories_.forget();
}

// The innermost.
const Places::Grant* Places::grant_for(const std::string& path) const {
  const Grant* found = nullptr;
  for (const Grant& grant : grants_) {
    const auto holds = [&](const std::string& closed) { return is_within(path, closed); };
    if (std::ranges::any_of(grant.closed, holds)) continue;
    if (is_within(path, grant.only) && (found == nullptr || grant.only.size() > found->only.size())) found = &grant;
  }
  return found;
}

std::string Places::root_of(std::string_view path) const {
  std::string root;
  const auto take = [&](const std::string& place) {
    if (is_within(path, place) && place.size() > root.size()) root = place;
  };
  for (const Mount& mount : mounts_) take(mount.target);
  for (const Grant& grant : grants_) take(grant.only);
  return root;
}

bool Places::is_writable(const std::string& path) const {
  if (grant_for(path) != nullptr) return true;
  for (std::string at = path;; at = at.substr(0, std::max<std::size_t>(at.rfind('/'), 1))) {
    const auto there = sys::resolve_plain(tree_.get(), relative(at));
    if (there) return !sys::is_on_read_only_mount(there->get()).value_or(true);
    if (at == "/") return false;
  }
}

std::optional<Whereabouts> Places::whereabouts(const CallerPath& path, sys::LastLink last) const {
  auto from = start_of(path, 0);
  if (!from) return std::nullopt;
  std::string rest;
  for (int links = 0, tries = 0; links < kLinksMax && tries < kPlaceTriesMax; ++tries) {
    const bool whole = rest.empty();
    const auto found = sys::resolve(from->base, from->path, whole ? last : sys::LastLink::kFollow, 0);
    if (!found) {
      const int error = found.error().sys_errno;
      auto parts = split_parent(from->path);
      if (!parts || (error != ENOENT && error != EACCES)) return std::nullopt;
      rest = whole ? parts->name.substr(0, parts->name.find('/'))
                   : cat({parts->name.substr(0, parts->name.find('/')), "/", rest});
      from->path = std::move(parts->directory);
      continue;
    }
    const auto in_proc = sys::is_on_proc(found->get());
    auto canonical = sys::path_in(descriptors_.get(), found->get());
    if (!in_proc || *in_proc || !canonical || !canonical->starts_with('/')) return std::nullopt;
    const bool writable = !sys::is_on_read_only_mount(found->get()).value_or(false);
    if (whole) return Whereabouts{std::move(*canonical), true, writable};
    // A link that leads nowhere here leads where it says.
    const std::string next = rest.substr(0, rest.find('/'));
    if (next == "..") return std::nullopt;
    const auto link = rest.contains('/') || last == sys::LastLink::kFollow ? sys::link_text(found->get(), next)
                                                                           : Result<std::string>(std::string());
    if (!link || link->empty()) {
      const bool has_parent = rest.find_first_not_of('/', next.size()) == std::string::npos;
      return Whereabouts{below_all(*canonical, rest), false, writable, has_parent};
    }
    from->path = link->starts_with('/') ? *link : below_all(*canonical, *link);
    if (rest.contains('/')) from->path += rest.substr(rest.find('/'));
    rest.clear();
    ++links;
  }
  return std::nullopt;
}

Result<std::optional<Object>> Places::object(const CallerPath& path, sys::LastLink last, std::uint64_t resolve) const {
  const From from = TRY(start_of(path, resolve));
  return in_copy(TRY(sys::resolve(from.base, from.path, last, resolve)), Wanted::kName);
}

Result<UniqueFd> Places::seen(const CallerPath& path, sys::LastLink last) const {
  const From from = TRY(start_of(path, 0));
  return sys::resolve(from.base, from.path, last, 0);
}

// What is hidden is missing in directories that were made for it, in memory; one of the host's shows all that it has,
// as it is by now. Compilers look for names that are not there again and again.
Result<Sight> Places::sight(const CallerPath& path, sys::LastLink last) const {
  const From from = TRY(start_of(path, 0));
  auto there = sys::resolve(from.base, from.path, last, 0);
  if (there) return Sight{std::move(*there), false};
  if (there.error().sys_errno != ENOENT) return fail(std::move(there).error());
  const auto parts = split_parent(from.path);
  if (!parts || parts->name.contains('/')) return Sight{};
  int directory = from.base;
  UniqueFd above;
  if (parts->directory != ".") {
    auto found = sys::resolve(from.base, parts->directory, sys::LastLink::kFollow, 0);
    if (!found) return Sight{};
    above = std::move(*found);
    directory = above.get();
  }
  const bool is_own = sys::is_on_tmpfs(directory).value_or(true);
  // A link that leads nowhere may lead to what is hidden.
  const auto link = is_own ? Result<std::string>(std::string()) : sys::link_text(directory, parts->name);
  return Sight{{}, !is_own && !link && link.error().sys_errno == ENOENT};
}

Result<std::optional<Object>> Places::object(pid_t caller, int descriptor) const {
  return in_copy(TRY(seen(caller, descriptor)), Wanted::kHandle);
}

Result<UniqueFd> Places::seen(pid_t caller, int descriptor) const {
  return sys::descriptor_of(proc_.get(), caller, descriptor);
}

// The link in proc(5) has a bit for reading and one for writing. A link without both belongs to a descriptor of O_PATH
// or of access mode 3; the flags tell which.
Status Places::check_is_open(pid_t caller, int descriptor) const {
  static constexpr mode_t kOpened = S_IRUSR | S_IWUSR;
  const std::string link = cat({std::to_string(caller), "/fd/", std::to_string(descriptor)});
  const auto what = sys::look_at_name(proc_.get(), link);
  if (what && (what->mode & kOpened) != 0) return {};
  const int flags = TRY(sys::flags_of(proc_.get(), caller, descriptor));
  if ((flags & O_PATH) != 0) return fail(Error::from_errno("the descriptor", EBADF));
  return {};
}

Result<std::string> Places::text_at(const std::string& path, std::size_t bytes_max) const {
  const UniqueFd found = TRY(sys::resolve_plain(tree_.get(), relative(path)));
  const sys::Resolved what = TRY(sys::look_at(found.get()));
  if (!S_ISREG(what.mode)) return fail(Error::from_errno("a text", EINVAL));
  const UniqueFd file = TRY(sys::open_again(found.get(), O_RDONLY));
  std::string text = TRY(sys::read_at(file.get(), 0, bytes_max + 1));
  if (text.size() > bytes_max) return fail(Error::from_errno("a text", EFBIG));
  return text;
}

Result<UniqueFd> Places::in_copy_at(const std::string& path) const {
  return sys::resolve_plain(tree_.get(), relative(path));
}

bool Places::is_final(const CallerPath& path, const Error& error) const {
  const int number = error.sys_errno;
  if (number != ENOENT && number != ENOTDIR && number != EACCES && number != ENAMETOOLONG) return false;
  auto from = start_of(path, 0);
  if (!from) return false;
  // The deepest directory on the way that is there, and the name that is not what was hoped for in it.
  for (int tries = 0; tries < kPlaceTriesMax; ++tries) {
    const auto parts = split_parent(from->path);
    if (!parts) break;
    from->path = parts->directory;
    const auto directory = sys::resolve(from->base, from->path, sys::LastLink::kFollow, 0);
    if (!directory) continue;
    const auto in_proc = sys::is_on_proc(directory->get());
    if (!in_proc || *in_proc) return false;
    const auto what = sys::look_at_name(directory->get(), parts->name.substr(0, parts->name.find('/')));
    return !what || !S_ISLNK(what->mode);
  }
  return false;
}

std::optional<std::string> Places::link_at(const CallerPath& path) const {
  const auto from = start_of(path, 0);
  if (!from) return std::nullopt;
  const auto seen = sys::resolve(from->base, from->path, sys::LastLink::kKeep, 0);
  if (!seen) return std::nullopt;
  const auto what = sys::look_at(seen->get());
  if (!what || !S_ISLNK(what->mode)) return std::nullopt;
  auto text = sys::link_text(seen->get(), "");
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

// /proc/self is whoever looks: for the caller's own it takes the /proc that knows the caller.
Result<Places::From> Places::start_of(const CallerPath& path, std::uint64_t resolve) const {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kOwn = {
      {{"/proc/self/", "/"}, {"/proc/thread-self/", "/"}, {"/dev/fd/", "/fd/"}}};
  for (const auto& [name, below_own] : kOwn) {
    if (resolve != 0 || !path.text.starts_with(name)) continue;
    const std::string below_it = cat({below_own.substr(1), path.text.substr(name.size())});
    if (climbs_in_proc(below_it)) continue;
    if (auto from = by_descriptor(path.caller, below_it)) return std::move(*from);
    return From{proc_.get(), {}, cat({std::to_string(path.caller), "/", below_it})};
  }
  // A directory that is not used need not be open: for an absolute path any will do.
  if (path.text.starts_with('/') && (resolve & RESOLVE_IN_ROOT) == 0) return From{proc_.get(), {}, path.text};
  UniqueFd held = TRY(base_of(path));
  const int base = held.get();
  return From{base, std::move(held), path.text};
}

// Nobody but root of its user namespace, and the process itself, can pass through /proc/PID/fd of a process that made
// itself unreadable (proc(5)). Its descriptor can be taken, and this process's own leads to the same file.
std::optional<Places::From> Places::by_descriptor(pid_t caller, std::string_view below_own) const {
  static constexpr std::string_view kDescriptors = "fd/";
  if (!below_own.starts_with(kDescriptors)) return std::nullopt;
  below_own.remove_prefix(kDescriptors.size());
  const std::string_view name = below_own.substr(0, below_own.find('/'));
  const auto number = decimal_of(name);
  if (!number || *number > INT_MAX || std::to_string(*number) != name) return std::nullopt;
  auto held = sys::descriptor_of(proc_.get(), caller, static_cast<int>(*number));
  if (!held) return std::nullopt;
  std::string path = cat({"self/fd/", std::to_string(held->get()), below_own.substr(name.size())});
  return From{proc_.get(), std::move(*held), std::move(path)};
}

Result<UniqueFd> Places::base_of(const CallerPath& path) const {
  if (path.text.empty()) return fail(Error::from_errno("a path", ENOENT));
  if (path.directory == AT_FDCWD) return sys::directory_of(proc_.get(), path.caller);
  return sys::descriptor_of(proc_.get(), path.caller, path.directory);
}

// Directories above a mount may be the sandbox's own, in memory or in a layer: who moves one takes the mount along, and
// rules are about the place where the mount was planned. One that is moved to and fro meanwhile is looked at again.
Result<std::string> Places::name_of(const UniqueFd& seen, std::string path, std::uint64_t mount) const {
  static constexpr int kTries = 16;
  for (int i = 0; i < kTries; ++i) {
    const auto own = std::ranges::find(mounts_, mount, &Mount::id);
    auto name = own != mounts_.end() ? name_below(*own, seen, path) : innermost_name(seen, path);
    if (name) return std::move(*name);
    // What was granted has mounts of its own.
    if (grant_for(path) != nullptr) return path;
    path = TRY(sys::path_in(descriptors_.get(), seen.get()));
  }
  return fail(Error::from_errno("a mount that is moved", EROFS));
}

// Of a mount of the host's that came along with one of these. It may be the one that was not found.
std::optional<std::string> Places::innermost_name(const UniqueFd& seen, const std::string& path) const {
  if (std::ranges::any_of(mounts_, [](const Mount& mount) { return !mount.root; })) return std::nullopt;
  std::optional<std::string> innermost;
  std::size_t longest = 0;
  for (const Mount& mount : mounts_) {
    auto name = name_below(mount, seen, path);
    if (!name || (innermost && mount.target.size() < longest)) continue;
    longest = mount.target.size();
    innermost = std::move(name);
  }
  return innermost;
}

// `path` is that of `seen`. A mount may move between two looks, so that the one path lies in the other by chance: where
// it can, both have to be the same once more. A change that was granted may move any.
std::optional<std::string> Places::name_below(const Mount& mount, const UniqueFd& seen, const std::string& path) const {
  if (!mount.root) return std::nullopt;
  const bool fixed = mount.above == Mount::Above::kFixed && grants_.empty();
  if (fixed && is_within(path, mount.target)) return path;
  const auto now = sys::path_in(descriptors_.get(), mount.root.get());
  if (!now || !is_within(path, *now)) return std::nullopt;
  const auto again = sys::path_in(descriptors_.get(), seen.get());
  if (!again || *again != path) return std::nullopt;
  const auto still = sys::path_in(descriptors_.get(), mount.root.get());
  if (!still || *still != *now) return std::nullopt;
  return path == *now ? mount.target : below_all(mount.target, relative(path, *now));
}

// What the kernel calls it may be another file by the time it is opened: the copy has to show the very same one.
Result<std::optional<Places::Twin>> Places::twin_of(const UniqueFd& seen) const {
  static constexpr int kTries = 16;
  const sys::Resolved what = TRY(sys::look_at(seen.get()));
  // A device is changed by nobody in there; the mounts see to that.
  if (S_ISCHR(what.mode) || S_ISBLK(what.mode)) return std::optional<Twin>();
  for (int i = 0; i < kTries; ++i) {
    std::string path = TRY(sys::path_in(descriptors_.get(), seen.get()));
    if (path.front() != '/') return std::optional<Twin>();
    const Grant* grant = grant_for(path);
    const int tree = grant != nullptr ? grant->tree.get() : tree_.get();
    const std::string root = grant != nullptr ? grant->root : "/";
    auto handle = sys::resolve_plain(tree, relative(path, root));
    if (!handle) continue;
    if (TRY(sys::is_on_read_only_mount(handle->get()))) {
      covered_ = std::move(path);
      return std::optional<Twin>();
    }
    const sys::Resolved copy = TRY(sys::look_at(handle->get()));
    if (!copy.is_same(what)) continue;
    std::string name = TRY(name_of(seen, path, what.mount));
    return Twin{std::move(*handle), copy, std::move(path), std::move(name), tree, root};
  }
  return std::optional<Twin>();
}

// The root of a tree is in no directory there: its name cannot be changed, the rest can.
Result<std::optional<Object>> Places::in_copy(UniqueFd seen, Wanted wanted) const {
  static constexpr int kTries = 16;
  if (!TRY(sys::is_on_read_only_mount(seen.get()))) return handed_over(std::move(seen), wanted);
  for (int i = 0; i < kTries; ++i) {
    auto twin = TRY(twin_of(seen));
    if (!twin) return std::optional<Object>();
    if (wanted == Wanted::kHandle || (twin->root != "/" && twin->path == twin->root)) {
      return Object{{std::make_shared<const Directory>(), {}, std::move(twin->name)},
                    std::move(twin->handle),
                    twin->what,
                    std::move(seen)};
    }
    const std::size_t slash = twin->path.rfind('/');
    const std::string above = twin->path.substr(0, std::max<std::size_t>(slash, 1));
    auto directory = sys::resolve_plain(twin->tree, relative(above, twin->root));
    if (!directory) continue;
    const sys::Resolved itself = TRY(sys::look_at(directory->get()));
    Directory held{{}, std::move(*directory), {}, itself};
    return Object{{std::make_shared<const Directory>(std::move(held)), twin->path.substr(slash + 1), twin->name},
                  std::move(twin->handle),
                  twin->what,
                  std::move(seen)};
  }
  return std::optional<Object>();
}

// A file on a writable mount is the sandbox's own, unless it was handed over: no sandbox has the mounts of the copy in
// its tree, so nothing else leads there. The supervisor judges a file that has lost its name by the last name that the
// kernel reports.
Result<std::optional<Object>> Places::handed_over(UniqueFd seen, Wanted wanted) const {
  if (handed_over_.empty()) return std::optional<Object>();
  const sys::Resolved what = TRY(sys::look_at(seen.get()));
  const auto mount = std::ranges::find(handed_over_, what.mount, &HandedOver::mount);
  if (mount == handed_over_.end()) return std::optional<Object>();
  std::string path = TRY(sys::path_in(descriptors_.get(), seen.get()));
  if (path.front() != '/') return fail(Error::from_errno("a file without a path", EROFS));
  if (mount->root != "/") path = cat({mount->root, path});
  const Grant* grant = mount->from == HandedOver::From::kGrant ? grant_for(path) : nullptr;
  const bool has_ended = mount->from == HandedOver::From::kGrant && grant == nullptr;
  if (has_ended) return fail(Error::from_errno("what is granted no more", EROFS));
  Object object{{std::make_shared<const Directory>(), {}, TRY(name_of(seen, path, what.mount))}, std::move(seen), what};
  if (wanted == Wanted::kHandle) return object;
  const std::size_t slash = path.rfind('/');
  const std::string above = relative(path.substr(0, std::max<std::size_t>(slash, 1)), mount->root);
  auto directory = sys::resolve_plain(grant != nullptr ? grant->tree.get() : tree_.get(), above);
  if (!directory) return object;
  std::string name = path.substr(slash + 1);
  const auto there = sys::look_at_name(directory->get(), name);
  if (!there || !there->is_same(what)) return object;
  const sys::Resolved itself = TRY(sys::look_at(directory->get()));
  object.entry.directory = std::make_shared<const Directory>(Directory{{}, std::move(*directory), {}, itself});
  object.entry.name = std::move(name);
  return object;
}

Result<bool> Places::is_of_sandbox(const UniqueFd& seen) const {
  static constexpr std::uint64_t kNoLinks = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const std::string path = TRY(sys::path_in(descriptors_.get(), seen.get()));
  if (path.front() != '/') return false;
  const auto found = sys::resolve(proc_.get(), path, sys::LastLink::kKeep, kNoLinks);
  if (!found) return false;
  const sys::Resolved there = TRY(sys::look_at(found->get()));
  const sys::Resolved what = TRY(sys::look_at(seen.get()));
  return there.is_same(what) && there.mount == what.mount;
}

Status Places::hand_over(const UniqueFd& file, std::uint64_t mount) {
  static constexpr int kTries = 16;
  if (std::ranges::find(handed_over_, mount, &HandedOver::mount) != handed_over_.end()) return {};
  const auto is_in = [&](const UniqueFd& tree, const std::string& path) {
    const auto found = sys::resolve_plain(tree.get(), relative(path));
    const auto what = found ? sys::look_at(found->get()) : Result<sys::Resolved>(sys::Resolved());
    return found && what && what->mount == mount;
  };
  for (int i = 0; i < kTries; ++i) {
    const std::string path = TRY(sys::path_in(descriptors_.get(), file.get()));
    if (path.front() != '/') break;
    if (is_in(tree_, path)) {
      handed_over_.push_back({mount, "/", HandedOver::From::kCopy});
      return {};
    }
    for (Grant& grant : grants_) {
      if (!is_in(grant.tree, path)) continue;
      grant.is_handed_over = true;
      handed_over_.push_back({mount, grant.root, HandedOver::From::kGrant});
      return {};
    }
  }
  return fail(Error::from_errno("a file that is moved", EBUSY));
}

}  // namespace hutch::guest
