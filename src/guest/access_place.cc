// Where a caller's path leads.
#include "guest/access_place.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <climits>

#include "base/text.h"
#include "sys/beneath.h"
#include "sys/io.h"

namespace hutch::guest {

namespace {

struct Split {
  std::string directory;
  std::string name;
};

// "a/b//" is "b//" in "a". Absent where the last component is none that can be made or removed.
std::optional<Split> split_path(const std::string& path) {
  const std::size_t last = path.find_last_not_of('/');
  if (last == std::string::npos) return std::nullopt;
  const std::size_t slash = path.rfind('/', last);
  const std::size_t start = slash == std::string::npos ? 0 : slash + 1;
  const std::string_view component = std::string_view(path).substr(start, last + 1 - start);
  if (component == "." || component == "..") return std::nullopt;
  if (slash == std::string::npos) return Split{".", path};
  return Split{path.substr(0, slash + 1), path.substr(start)};
}

std::string below(const std::string& directory, std::string_view name) {
  name = name.substr(0, name.find('/'));
  return directory == "/" ? cat({"/", name}) : cat({directory, "/", name});
}

std::string relative(const std::string& path) { return path == "/" ? "." : path.substr(1); }

}  // namespace

Result<std::optional<Entry>> Places::entry(const CallerPath& path, std::uint64_t resolve) {
  auto found = TRY(named(path, resolve));
  if (!found || found->path.empty()) return std::optional<Entry>();
  return found;
}

Result<std::optional<NamedPlace>> Places::named(const CallerPath& path, std::uint64_t resolve) {
  std::optional<Split> parts = split_path(path.text);
  if (!parts) return std::optional<NamedPlace>();
  const CallerPath above_it{path.caller, path.directory, std::move(parts->directory)};
  auto found = directory(above_it, resolve);
  if (!found && is_final(above_it, found.error())) return fail(std::move(found).error());
  if (!found) return std::optional<NamedPlace>();
  NamedPlace place{std::move(*found), std::move(parts->name), {}};
  if (!place.directory->copy) return place;
  const std::string above = TRY(sys::path_of(proc_.get(), place.directory->seen.get()));
  if (above.front() != '/') return std::optional<NamedPlace>();
  place.path = below(above, place.name);
  return place;
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
  auto object = TRY(in_copy(seen));
  // It may have been moved just now.
  if (!object) return std::make_shared<const Directory>(Directory{std::move(seen), {}, what, {}});
  return directories_.add({std::move(seen), std::move(object->handle), what, object->what});
}

Result<std::optional<Object>> Places::object(const CallerPath& path, sys::LastLink last, std::uint64_t resolve) const {
  const From from = TRY(start_of(path, resolve));
  const UniqueFd seen = TRY(sys::resolve(from.base, from.path, last, resolve));
  return in_copy(seen);
}

Result<UniqueFd> Places::seen(const CallerPath& path, sys::LastLink last) const {
  const From from = TRY(start_of(path, 0));
  return sys::resolve(from.base, from.path, last, 0);
}

Result<std::optional<Object>> Places::object(pid_t caller, int descriptor) const {
  const UniqueFd seen = TRY(sys::descriptor_of(proc_.get(), caller, descriptor));
  return in_copy(seen);
}

Status Places::check_is_open(pid_t caller, int descriptor) const {
  const int flags = TRY(sys::flags_of(proc_.get(), caller, descriptor));
  if ((flags & O_PATH) != 0) return fail(Error::from_errno("the descriptor", EBADF));
  return {};
}

bool Places::is_final(const CallerPath& path, const Error& error) const {
  const int number = error.sys_errno;
  if (number != ENOENT && number != ENOTDIR && number != EACCES && number != ENAMETOOLONG) return false;
  auto from = start_of(path, 0);
  if (!from) return false;
  // The deepest directory on the way that is there, and the name that is not what was hoped for in it.
  while (const auto parts = split_path(from->path)) {
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
    return From{proc_.get(), {}, cat({std::to_string(path.caller), below_own, path.text.substr(name.size())})};
  }
  // A directory that is not used need not be open: for an absolute path any will do.
  if (path.text.starts_with('/') && (resolve & RESOLVE_IN_ROOT) == 0) return From{proc_.get(), {}, path.text};
  UniqueFd held = TRY(base_of(path));
  const int base = held.get();
  return From{base, std::move(held), path.text};
}

Result<UniqueFd> Places::base_of(const CallerPath& path) const {
  if (path.text.empty()) return fail(Error::from_errno("a path", ENOENT));
  if (path.directory == AT_FDCWD) return sys::directory_of(proc_.get(), path.caller);
  return sys::descriptor_of(proc_.get(), path.caller, path.directory);
}

// What the kernel calls it may be another file by the time it is opened: the copy has to show the very same one.
Result<std::optional<Object>> Places::in_copy(const UniqueFd& seen) const {
  static constexpr int kTries = 16;
  if (!TRY(sys::is_on_read_only_mount(seen.get()))) return std::optional<Object>();
  const sys::Resolved what = TRY(sys::look_at(seen.get()));
  // A device is changed by nobody in there; the mounts see to that.
  if (S_ISCHR(what.mode) || S_ISBLK(what.mode)) return std::optional<Object>();
  for (int i = 0; i < kTries; ++i) {
    const std::string path = TRY(sys::path_of(proc_.get(), seen.get()));
    if (path.front() != '/') return std::optional<Object>();
    auto handle = sys::resolve_plain(tree_.get(), relative(path));
    if (!handle) continue;
    if (TRY(sys::is_on_read_only_mount(handle->get()))) return std::optional<Object>();
    const sys::Resolved copy = TRY(sys::look_at(handle->get()));
    if (!copy.is_same(what)) continue;
    const std::size_t slash = path.rfind('/');
    auto directory = sys::resolve_plain(tree_.get(), relative(path.substr(0, std::max<std::size_t>(slash, 1))));
    if (!directory) continue;
    Directory above{{}, std::move(*directory), {}, {}};
    return Object{
        {std::make_shared<const Directory>(std::move(above)), path.substr(slash + 1), path}, std::move(*handle), copy};
  }
  return std::optional<Object>();
}

}  // namespace hutch::guest
