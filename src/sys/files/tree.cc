// Looking at a file tree without changing it.
#include "sys/files/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstring>

#include "base/text.h"
#include "sys/call.h"
#include "sys/files/changed.h"
#include "sys/files/files.h"

namespace hutch::sys {

namespace {

EntryKind kind_of_mode(mode_t mode);
EntryKind dirent_kind(unsigned char type);
std::string quoted(std::string_view call, std::string_view path);
Result<UniqueFd> open_retrying(int directory, const std::string& name, int flags);

}  // namespace

Result<std::optional<PathStatus>> status_of(const std::string& path) { return status_at(AT_FDCWD, path); }

Result<FileVersion> file_version(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return fail(Error::from_errno(quoted("lstat", path)));
  return FileVersion{status.st_dev, status.st_ino,
                     std::int64_t{status.st_ctim.tv_sec} * 1'000'000'000 + status.st_ctim.tv_nsec};
}

Result<std::optional<PathStatus>> status_at(int directory, const std::string& name) {
  struct stat status{};
  if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<PathStatus>();
    return fail(Error::from_errno(quoted("fstatat", name)));
  }
  return std::optional(PathStatus{.kind = kind_of_mode(status.st_mode),
                                  .device = status.st_dev,
                                  .inode = status.st_ino,
                                  .uid = status.st_uid,
                                  .gid = status.st_gid,
                                  .mode = status.st_mode & 07777U});
}

Result<std::string> tree_link_text(const std::string& path) {
  std::array<char, PATH_MAX> buffer;
  const ssize_t length = ::readlink(path.c_str(), buffer.data(), buffer.size());
  if (length < 0) return fail(Error::from_errno(quoted("readlink", path)));
  return std::string(buffer.data(), static_cast<std::size_t>(length));
}

Result<UniqueFd> open_listing(const std::string& path) { return open_listing_at(AT_FDCWD, path); }

Result<UniqueFd> open_listing_at(int directory, const std::string& name) {
  return open_retrying(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

Result<std::vector<TreeEntry>> names_in(int directory, const std::string& path) {
  std::vector<TreeEntry> entries;
  alignas(dirent64) std::array<char, 16384> buffer;
  for (;;) {
    const long length = ::syscall(SYS_getdents64, directory, buffer.data(), buffer.size());
    if (length < 0) return fail(Error::from_errno(quoted("getdents64", path)));
    if (length == 0) return entries;
    for (std::size_t at = 0; at < static_cast<std::size_t>(length);) {
      const char* record = buffer.data() + at;
      unsigned short size = 0;
      std::memcpy(&size, record + offsetof(dirent64, d_reclen), sizeof size);
      const auto type = static_cast<unsigned char>(record[offsetof(dirent64, d_type)]);
      const std::string_view name(record + offsetof(dirent64, d_name));
      at += size;
      if (name != "." && name != "..") entries.push_back({std::string(name), dirent_kind(type)});
    }
  }
}

Result<std::string> regular_file_text(const std::string& path, std::size_t bytes_max) {
  const UniqueFd file = TRY(open_retrying(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return fail(Error::from_errno(quoted("fstat", path)));
  if (S_ISDIR(status.st_mode)) return fail(Error::invalid(cat({printable(path), ": is a directory, not a file"})));
  if (!S_ISREG(status.st_mode)) return fail(Error::invalid(cat({printable(path), ": is not a regular file"})));
  std::string text;
  text.reserve(std::min(static_cast<std::size_t>(status.st_size), bytes_max));
  std::array<char, 32768> buffer;
  for (;;) {
    const ssize_t length = ::read(file.get(), buffer.data(), buffer.size());
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return fail(Error::from_errno(quoted("read", path)));
    if (length == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(length));
    if (text.size() > bytes_max) {
      return fail(Error::invalid(cat({printable(path), ": larger than ", std::to_string(bytes_max), " bytes"})));
    }
  }
}

// What its owner took away is given back, by a descriptor: whoever may write the directory could put a link to
// something else in the place of a name, which fchmodat(2) follows.
Status open_up(int directory, const std::string& name) {
  const UniqueFd found = TRY(open_retrying(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return set_directory_mode(found.get(), 0700);
}

Status set_directory_mode(int directory, std::uint32_t mode) {
  const std::string own = cat({"/proc/self/fd/", std::to_string(directory)});
  return check(::chmod(own.c_str(), mode), {"chmod(", own, ")"});
}

namespace {

// Opens it for listing and for writing, whatever its mode.
Result<UniqueFd> open_to_remove(int directory, const std::string& name) {
  auto opened = open_listing_at(directory, name);
  if (!opened && opened.error().sys_errno == EACCES) {
    TRY(open_up(directory, name));
    opened = open_listing_at(directory, name);
  }
  return opened;
}

// The same for what is in the tree: somebody else's files may be mounted there.
Result<UniqueFd> open_inner(int directory, const std::string& name) {
  UniqueFd inner = TRY(open_to_remove(directory, name));
  if (TRY(is_mount_root(inner.get()))) {
    return fail(
        Error{Code::kConflict, EBUSY, cat({printable(name), ": something is mounted there: unmount it first"})});
  }
  TRY(check(::fchmod(inner.get(), 0700), {"fchmod(", name, ")"}));
  return inner;
}

Status unlink_if_there(int directory, const std::string& name, int flags) {
  const int answer = ::unlinkat(directory, name.c_str(), flags);
  if (answer < 0 && errno == ENOENT) return {};
  return check(answer, {"unlinkat(", name, ")"});
}

// Empties `name` of `top`; the directories in it become the top's own, so that no depth is too deep.
Status empty_directory(int top, const std::string& name, std::uint64_t& last_number) {
  const UniqueFd directory = TRY(open_inner(top, name));
  for (const TreeEntry& entry : TRY(names_in(directory.get(), name))) {
    const auto status = TRY(status_at(directory.get(), entry.name));
    if (!status) continue;
    if (status->kind != EntryKind::kDirectory) {
      TRY(unlink_if_there(directory.get(), entry.name, 0));
      continue;
    }
    // A directory is renamed only by who may write it: its ".." changes (rename(2), EACCES).
    TRY(open_inner(directory.get(), entry.name));
    const std::string moved = cat({".hutch-remove-", std::to_string(++last_number)});
    TRY(check(::renameat(directory.get(), entry.name.c_str(), top, moved.c_str()), {"renameat(", entry.name, ")"}));
  }
  return {};
}

}  // namespace

// Something that is mounted in the tree stays, and is an error: Code::kConflict.
Status remove_tree(const std::string& path) { return remove_tree_at(AT_FDCWD, path); }

Status remove_tree_at(int directory, const std::string& path) {
  const auto status = TRY(status_at(directory, path));
  if (!status) return {};
  if (status->kind != EntryKind::kDirectory) return fail(Error::invalid(cat({path, ": is no directory"})));
  const UniqueFd top = TRY(open_to_remove(directory, path));
  TRY(check(::fchmod(top.get(), 0700), {"fchmod(", path, ")"}));
  std::uint64_t last_number = 0;
  for (;;) {
    TRY(check(::lseek(top.get(), 0, SEEK_SET), {"lseek(", path, ")"}));
    const std::vector<TreeEntry> entries = TRY(names_in(top.get(), path));
    if (entries.empty()) return unlink_if_there(directory, path, AT_REMOVEDIR);
    for (const TreeEntry& entry : entries) {
      const auto inner = TRY(status_at(top.get(), entry.name));
      if (!inner) continue;
      const bool is_directory = inner->kind == EntryKind::kDirectory;
      if (is_directory) TRY(empty_directory(top.get(), entry.name, last_number));
      TRY(unlink_if_there(top.get(), entry.name, is_directory ? AT_REMOVEDIR : 0));
    }
  }
}

Status make_private_directories(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
  for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) return fail(Error::from_errno(quoted("mkdir", part)));
    if (at == std::string::npos) return {};
  }
}

bool may_open(const std::string& path, Permission permission) {
  const int mode = permission == Permission::kRead ? R_OK : W_OK;
  return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

namespace {

EntryKind kind_of_mode(mode_t mode) {
  if (S_ISDIR(mode)) return EntryKind::kDirectory;
  if (S_ISREG(mode)) return EntryKind::kFile;
  if (S_ISLNK(mode)) return EntryKind::kSymlink;
  return EntryKind::kOther;
}

EntryKind dirent_kind(unsigned char type) {
  switch (type) {
    case DT_DIR: return EntryKind::kDirectory;
    case DT_REG: return EntryKind::kFile;
    case DT_LNK: return EntryKind::kSymlink;
    case DT_UNKNOWN: return EntryKind::kUnknown;
    default: return EntryKind::kOther;
  }
}

std::string quoted(std::string_view call, std::string_view path) { return cat({call, "(", printable(path), ")"}); }

Result<UniqueFd> open_retrying(int directory, const std::string& name, int flags) {
  for (;;) {
    UniqueFd fd(::openat(directory, name.c_str(), flags));
    if (fd) return fd;
    if (errno != EINTR) return fail(Error::from_errno(quoted("openat", name)));
  }
}

}  // namespace

}  // namespace hutch::sys
