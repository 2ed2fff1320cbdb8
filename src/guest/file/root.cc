// The root of a request's places, and what is opened below it.
#include "guest/file/root.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "guest/file/place.h"
#include "sys/files/files.h"

namespace hutch::guest {

namespace {

enum class Last { kKept, kFollowed };

Result<std::string> without_links(const Root& root, const std::string& path, Last last);
std::string joined(const std::string& path, const std::string& more);
Error readlink_error(int number) { return Error::from_errno("readlink", number); }

}  // namespace

Result<Root> open_root(const wire::FilePlace& place) {
  auto root = sys::open_exact(place.root);
  if (root) return Root{std::move(*root), place.root};
  if (root.error().sys_errno != ELOOP) return fail(explained(std::move(root).error(), {place.root, place.root}));
  return fail(Error::invalid(cat({printable(place.root), ": a root has no symbolic link in its path"})));
}

// The kernel takes an absolute link for one that leads out, whatever it says (openat2(2), RESOLVE_BENEATH). Where it
// leads is looked up name by name then; what is opened in the end the kernel judges again, so that a name that is
// replaced meanwhile leads nowhere else.
Result<UniqueFd> open_below(const Root& root, const std::string& path, sys::Beneath how) {
  auto opened = sys::open_beneath(root.fd.get(), path, how);
  if (opened || opened.error().sys_errno != EXDEV || path.starts_with('/')) return opened;
  const bool kept = how == sys::Beneath::kLink || how == sys::Beneath::kListing;
  const std::string plain = TRY(without_links(root, path, kept ? Last::kKept : Last::kFollowed));
  return sys::open_beneath(root.fd.get(), plain, how);
}

std::optional<std::string> below(const Root& root, std::string_view absolute) {
  if (absolute == root.path) return ".";
  const std::string prefix = root.path.ends_with('/') ? root.path : root.path + "/";
  if (!absolute.starts_with(prefix)) return std::nullopt;
  return std::string(absolute.substr(prefix.size()));
}

namespace {

// The same place without a symbolic link on the way, as far as there is something.
Result<std::string> without_links(const Root& root, const std::string& path, Last last) {
  const bool inside = path.ends_with('/') || path.ends_with("/.");  // has to be a directory
  std::string done;
  std::string rest = path;
  for (int links = 0; !rest.empty();) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string name = rest.substr(0, slash);
    const std::string after = rest.substr(std::min(slash + 1, rest.size()));
    const bool is_last = slash == rest.size();
    rest = after;
    if (name.empty() || name == ".") continue;
    const std::string here = joined(done, name);
    if (name == "..") {
      done = here;
      continue;
    }
    const auto found = sys::open_beneath(root.fd.get(), here, sys::Beneath::kLink);
    if (!found && found.error().sys_errno == ENOENT) return joined(here, after);
    if (!found) return fail(found.error());
    const sys::FileStatus status = TRY(sys::file_status(found->get(), ""));
    if (status.kind != sys::EntryKind::kSymlink || (is_last && last == Last::kKept)) {
      done = here;
      continue;
    }
    if (++links > limits::kSymlinksMax) return fail(readlink_error(ELOOP));
    std::string text = TRY(sys::link_text(found->get(), ""));
    if (text.starts_with('/')) {
      auto own = below(root, text);
      if (!own) return fail(readlink_error(EXDEV));
      text = std::move(*own);
      done.clear();
    }
    rest = joined(text, after);
    if (done.size() + rest.size() > limits::kPathBytesMax) return fail(readlink_error(ENAMETOOLONG));
  }
  if (done.empty()) return std::string(".");
  return inside ? done + "/." : done;
}

std::string joined(const std::string& path, const std::string& more) {
  if (path.empty() || more.empty()) return path + more;
  return cat({path, "/", more});
}

}  // namespace

}  // namespace hutch::guest
