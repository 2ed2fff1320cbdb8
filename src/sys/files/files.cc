// Files and directories by descriptor.
#include "sys/files/files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/call.h"
#include "sys/files/plain_open.h"
#include "sys/io.h"

namespace hutch::sys {

namespace {

static_assert(kCwd == AT_FDCWD);

int open_flags(Open how) {
  switch (how) {
    case Open::kRead: return O_RDONLY;
    case Open::kReadDirectory: return O_RDONLY | O_DIRECTORY;
    case Open::kWrite: return O_WRONLY;
    case Open::kAppend: return O_WRONLY | O_APPEND;
    case Open::kPath: return O_PATH;
  }
  return O_RDONLY;
}

Result<UniqueFd> open_resolved(int directory, const std::string& path, std::uint64_t resolve) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = resolve;
  return check_fd(plain_openat2(directory, path, how), {"openat2(", path, ")"});
}

}  // namespace

Result<UniqueFd> open(std::string_view path, Open how) {
  const std::string name(path);
  const int fd = retry([&] { return ::open(name.c_str(), open_flags(how) | O_CLOEXEC | O_NOCTTY); });
  return check_fd(fd, {"open(", name, ")"});
}

Result<UniqueFd> open_exact(std::string_view path) {
  return open_resolved(AT_FDCWD, std::string(path), RESOLVE_NO_SYMLINKS);
}

Result<UniqueFd> open_beneath(int directory, std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  const std::string name(path.empty() ? "." : path);
  return open_resolved(directory, name, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

Result<FileIdentity> identify(int fd) {
  struct stat info{};
  TRY(check(::fstat(fd, &info), {"fstat(", std::to_string(fd), ")"}));
  return FileIdentity{info.st_dev, info.st_ino, info.st_mode, info.st_uid};
}

Result<bool> is_mount_root(int fd) {
  struct statx info{};
  // Without asking a server, which may be gone, or serve somebody else alone.
  TRY(check(::statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &info), {"statx(", std::to_string(fd), ")"}));
  return (info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

Status make_directory(int directory, const std::string& path, unsigned mode) {
  return check(::mkdirat(directory, path.c_str(), mode), {"mkdir(", path, ")"});
}

Result<UniqueFd> make_file(int directory, const std::string& path, unsigned mode) {
  const int flags = O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW;
  const int fd = retry([&] { return ::openat(directory, path.c_str(), flags, mode); });
  return check_fd(fd, {"open(", path, ", O_CREAT)"});
}

Result<UniqueFd> memory_file(const std::string& name, std::string_view bytes) {
  UniqueFd file = TRY(check_fd(::memfd_create(name.c_str(), MFD_CLOEXEC), {"memfd_create(", name, ")"}));
  TRY(write_all(file.get(), bytes));
  TRY(check(::lseek(file.get(), 0, SEEK_SET), {"lseek(", name, ")"}));
  return file;
}

Status make_symlink(const std::string& text, int directory, const std::string& path) {
  return check(::symlinkat(text.c_str(), directory, path.c_str()), {"symlink(", text, ", ", path, ")"});
}

Status remove_directory(const std::string& path) { return check(::rmdir(path.c_str()), {"rmdir(", path, ")"}); }

Status change_directory(const std::string& path) { return check(::chdir(path.c_str()), {"chdir(", path, ")"}); }

Status change_directory(int fd) { return check(::fchdir(fd), {"fchdir(", std::to_string(fd), ")"}); }

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool may_write(const std::string& path) { return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0; }

Status write_file(const std::string& path, std::string_view text) {
  const int raw = retry([&] { return ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY); });
  const UniqueFd fd = TRY(check_fd(raw, {"open(", path, ")"}));
  const ssize_t count = retry([&] { return ::write(fd.get(), text.data(), text.size()); });
  return check(count, {"write(", path, ", ", text, ")"});
}

Result<std::string> read_file(const std::string& path, std::size_t bytes_max) {
  const UniqueFd fd = TRY(open(path, Open::kRead));
  return TRY_CTX(read_to_end(fd.get(), bytes_max), path);
}

Result<std::string> read_link(const std::string& path) {
  char text[4097];
  const ssize_t size = ::readlink(path.c_str(), text, sizeof text);
  TRY(check(size, {"readlink(", path, ")"}));
  return std::string(text, static_cast<std::size_t>(size));
}

}  // namespace hutch::sys
