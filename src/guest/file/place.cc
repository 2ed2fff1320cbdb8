// Where a file of a request is.
#include "guest/file/place.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "sys/files/files.h"
#include "sys/io.h"

namespace hutch::guest {

namespace {

Result<UniqueFd> open_parent(const Root& root, const std::string& path, Parents parents);
Result<std::optional<sys::FileStatus>> status_if_any(int directory, const std::string& name);
Error place_error(int number, std::string_view what);

}  // namespace

Result<Found> find_name(const wire::FilePlace& place, Parents parents) {
  const Root root = TRY(open_root(place));
  const SplitPath path = TRY(split_path(place.path));
  Found found{TRY(open_parent(root, path.parent, parents)), path.name, {}};
  found.status = TRY(status_if_any(found.directory.get(), found.name));
  return found;
}

// The kernel follows links up to the last name; that one is followed here, since what is behind it is to be replaced
// by a file of the same directory. Each step begins at the root again, so that none can lead out.
Result<Found> find_target(const wire::FilePlace& place, Parents parents) {
  const Root root = TRY(open_root(place));
  std::string whole = place.path;
  for (int links = 0; links <= limits::kSymlinksMax; ++links) {
    const SplitPath path = TRY(split_path(whole));
    Found found{TRY(open_parent(root, path.parent, parents)), path.name, {}};
    found.status = TRY(status_if_any(found.directory.get(), found.name));
    if (!found.status || found.status->kind != sys::EntryKind::kSymlink) return found;
    const std::string text = TRY(sys::link_text(found.directory.get(), found.name));
    const auto own = below(root, text);
    if (text.starts_with('/') && !own) return fail(place_error(EXDEV, "readlink"));
    whole = own ? *own : cat({path.parent, "/", text});
    if (whole.size() > limits::kPathBytesMax) return fail(place_error(ENAMETOOLONG, "readlink"));
  }
  return fail(place_error(ELOOP, "readlink"));
}

Result<UniqueFd> make_directories(const Root& root, const std::string& path) {
  auto whole = open_below(root, path, sys::Beneath::kDirectory);
  if (whole || whole.error().sys_errno != ENOENT) return whole;
  UniqueFd at = TRY(open_below(root, ".", sys::Beneath::kDirectory));
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string prefix = path.substr(0, end);
    const std::string name = path.substr(begin, end - begin);
    begin = end + 1;
    if (name.empty()) continue;
    auto next = open_below(root, prefix, sys::Beneath::kDirectory);
    if (!next && next.error().sys_errno == ENOENT) {
      const Status made = sys::make_directory(at.get(), name, 0755);
      if (!made && made.error().sys_errno != EEXIST) return fail(made.error());
      next = open_below(root, prefix, sys::Beneath::kDirectory);
    }
    at = TRY(std::move(next));
  }
  return at;
}

Result<SplitPath> split_path(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const std::size_t slash = path.rfind('/');
  SplitPath split{slash == std::string::npos ? "." : path.substr(0, slash), path.substr(slash + 1)};
  // An absolute path stays one: the kernel refuses it below a root.
  if (split.parent.empty()) split.parent = "/";
  if (split.name.empty() || split.name == "." || split.name == "..") {
    return fail(Error::invalid(cat({printable(path), ": is a directory; name something in it"})));
  }
  return split;
}

wire::FileStat to_wire(const sys::FileStatus& status) {
  const auto kind = [&] {
    switch (status.kind) {
      case sys::EntryKind::kFile: return wire::FileKind::kRegular;
      case sys::EntryKind::kDirectory: return wire::FileKind::kDirectory;
      case sys::EntryKind::kSymlink: return wire::FileKind::kSymlink;
      case sys::EntryKind::kOther:
      case sys::EntryKind::kUnknown: return wire::FileKind::kOther;
    }
    return wire::FileKind::kOther;
  };
  return {kind(), status.mode, status.modified_ns, {status.inode, status.size, status.changed_ns}, {}};
}

Error explained(Error error, const wire::FilePlace& place) {
  const std::string path = printable(place.path);
  const auto as = [&](Code code, std::string_view why) { return Error{code, 0, cat({path, ": ", why})}; };
  switch (error.sys_errno) {
    case 0: return error;
    case ELOOP: return as(Code::kInvalidArgument, "too many levels of symbolic links");
    case EXDEV: return {Code::kPermissionDenied, 0, cat({path, ": leads out of ", printable(place.root)})};
    case ENOENT: return as(Code::kNotFound, "there is no such file");
    case ENOTDIR: return as(Code::kInvalidArgument, "something on the way is not a directory");
    case EISDIR: return as(Code::kInvalidArgument, "is a directory");
    case ENAMETOOLONG: return as(Code::kInvalidArgument, "the name is too long");
    case EACCES:
    case EPERM: return as(Code::kPermissionDenied, "permission denied");
    case EROFS: return as(Code::kPermissionDenied, "is read-only");
    case ENOTEMPTY: return as(Code::kConflict, "there is a directory that is not empty");
    case EEXIST: return as(Code::kConflict, "there is something already");
    case EBUSY: return as(Code::kConflict, "something is mounted there");
    default: return {Code::kSystem, error.sys_errno, cat({path, ": ", error.message})};
  }
}

namespace {

Result<UniqueFd> open_parent(const Root& root, const std::string& path, Parents parents) {
  if (path == ".") return sys::duplicate(root.fd.get());
  if (parents == Parents::kMade) return make_directories(root, path);
  return open_below(root, path, sys::Beneath::kDirectory);
}

Result<std::optional<sys::FileStatus>> status_if_any(int directory, const std::string& name) {
  auto status = sys::file_status(directory, name);
  if (status) return std::optional(*status);
  if (status.error().sys_errno == ENOENT) return std::optional<sys::FileStatus>();
  return fail(std::move(status).error());
}

Error place_error(int number, std::string_view what) { return Error::from_errno(what, number); }

}  // namespace

}  // namespace hutch::guest
