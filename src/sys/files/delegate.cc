// Calls about files that one process makes for another.
#include "sys/files/delegate.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <string_view>

#include "sys/call.h"
#include "sys/kernel_abi.h"

namespace hutch::sys {

namespace {

constexpr std::size_t kPage = 4096;

// Of this process, in the proc(5) that is its current directory.
std::string self(int fd) { return cat({"self/fd/", std::to_string(fd)}); }

Result<UniqueFd> open_for(int base, const std::string& path, int flags, std::uint64_t resolve) {
  ::open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = resolve;
  return check_fd(retry([&] { return ::syscall(SYS_openat2, base, path.c_str(), &how, sizeof how); }),
                  {"openat2(", path, ")"});
}

Result<long> file_system_of(int fd) {
  struct statfs info{};
  TRY(check(retry([&] { return ::fstatfs(fd, &info); }), {"fstatfs()"}));
  return info.f_type;
}

Result<std::string> beginning_of(int proc, const std::string& path) {
  const UniqueFd file = TRY(check_fd(::openat(proc, path.c_str(), O_RDONLY | O_CLOEXEC), {"openat(", path, ")"}));
  std::array<char, kPage> bytes;
  const ssize_t count = retry([&] { return ::read(file.get(), bytes.data(), bytes.size()); });
  TRY(check(count, {"read(", path, ")"}));
  return std::string(bytes.data(), static_cast<std::size_t>(count));
}

// The number behind `label`.
Result<int> number_in(std::string_view text, const std::string& path, std::string_view label, int base) {
  const std::size_t at = text.find(label);
  if (at == std::string_view::npos) return fail(Error::invalid(cat({path, " is not as known"})));
  int number = 0;
  std::from_chars(text.data() + at + label.size(), text.data() + text.size(), number, base);
  return number;
}

// Without asking a server for news: what is needed does not change (statx(2), AT_STATX_DONT_SYNC).
Result<Resolved> look(int directory, const std::string& path, int flags) {
  static constexpr unsigned kWanted = STATX_TYPE | STATX_MODE | STATX_INO | STATX_MNT_ID | STATX_NLINK;
  struct statx info{};
  TRY(check(::statx(directory, path.c_str(), flags | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, kWanted, &info),
            {"statx(", path, ")"}));
  return Resolved{::makedev(info.stx_dev_major, info.stx_dev_minor), info.stx_ino, info.stx_mnt_id,
                  static_cast<mode_t>(info.stx_mode), info.stx_nlink};
}

Result<std::string> process_link(int directory, const std::string& name) {
  std::array<char, PATH_MAX> text;
  const ssize_t size = ::readlinkat(directory, name.c_str(), text.data(), text.size());
  TRY(check(size, {"readlinkat()"}));
  return std::string(text.data(), static_cast<std::size_t>(size));
}

bool is_hidden(const Error& error) { return error.sys_errno == EACCES; }

}  // namespace

Result<std::string> read_text_of(pid_t process, std::uint64_t address, std::size_t bytes_max) {
  std::string text;
  std::array<char, kPage> page;
  while (text.size() < bytes_max) {
    // Never past the page: the next one may not be there.
    const std::size_t wanted = std::min(kPage - static_cast<std::size_t>(address % kPage), bytes_max - text.size());
    TRY(read_memory_of(process, address, page.data(), wanted));
    const std::string_view read(page.data(), wanted);
    const std::size_t end = read.find('\0');
    text.append(read.substr(0, end));
    if (end != std::string_view::npos) return text;
    address += wanted;
  }
  return fail(Error::from_errno("a path", ENAMETOOLONG));
}

Status read_memory_of(pid_t process, std::uint64_t address, void* into, std::size_t size) {
  const iovec ours{into, size};
  const iovec theirs{reinterpret_cast<void*>(address), size};
  const ssize_t count = ::process_vm_readv(process, &ours, 1, &theirs, 1, 0);
  TRY(check(count, {"process_vm_readv()"}));
  if (static_cast<std::size_t>(count) != size) return fail(Error::from_errno("process_vm_readv()", EFAULT));
  return {};
}

Result<UniqueFd> directory_of(int proc, pid_t process) {
  const std::string path = cat({std::to_string(process), "/cwd"});
  return check_fd(::openat(proc, path.c_str(), O_PATH | O_CLOEXEC), {"openat(", path, ")"});
}

Result<UniqueFd> descriptor_of(int proc, pid_t process, int number) {
  const std::string path = cat({std::to_string(process), "/fd/", std::to_string(number)});
  auto opened = check_fd(::openat(proc, path.c_str(), O_PATH | O_CLOEXEC), {"openat(", path, ")"});
  if (opened || !is_hidden(opened.error())) return opened;
  // Not kept itself: a pipe would not end, a lock not go, while it is open here.
  const UniqueFd taken = TRY(take_descriptor(proc, process, number));
  return check_fd(::openat(proc, self(taken.get()).c_str(), O_PATH | O_CLOEXEC), {"openat(self)"});
}

Result<int> flags_of(int proc, pid_t process, int number) {
  const std::string path = cat({std::to_string(process), "/fdinfo/", std::to_string(number)});
  const auto text = beginning_of(proc, path);
  if (text) return number_in(*text, path, "\nflags:\t", 8);
  if (!is_hidden(text.error())) return fail(text.error());
  const UniqueFd taken = TRY(take_descriptor(proc, process, number));
  const int own = ::fcntl(taken.get(), F_GETFL);
  TRY(check(own, {"fcntl(F_GETFL)"}));
  return own;
}

Result<CreationMask> umask_of(int proc, pid_t process) {
  const std::string path = cat({std::to_string(process), "/status"});
  const std::string status = TRY(beginning_of(proc, path));
  const int mask = TRY(number_in(status, path, "\nUmask:\t", 8));
  const int threads = TRY(number_in(status, path, "\nThreads:\t", 10));
  return CreationMask{static_cast<mode_t>(mask & 0777), threads == 1 ? Sharers::kNone : Sharers::kThreads};
}

Result<UniqueFd> resolve(int base, const std::string& path, LastLink last, std::uint64_t resolve) {
  return open_for(base, path, O_PATH | (last == LastLink::kKeep ? O_NOFOLLOW : 0), resolve);
}

Result<UniqueFd> resolve_plain(int directory, const std::string& path) {
  return open_for(directory, path, O_PATH | O_NOFOLLOW, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

Result<Resolved> look_at(int fd) { return look(fd, "", AT_EMPTY_PATH); }

Result<Resolved> look_at_name(int directory, const std::string& name) {
  return look(directory, name, AT_SYMLINK_NOFOLLOW);
}

Result<Resolved> look_at_directory_of(int proc, pid_t process) {
  return look(proc, cat({std::to_string(process), "/cwd"}), 0);
}

Result<bool> is_on_read_only_mount(int fd) {
  struct statfs info{};
  TRY(check(retry([&] { return ::fstatfs(fd, &info); }), {"fstatfs()"}));
  return (static_cast<unsigned long>(info.f_flags) & ST_RDONLY) != 0;
}

Result<bool> is_on_proc(int fd) { return TRY(file_system_of(fd)) == PROC_SUPER_MAGIC; }

Result<bool> is_on_tmpfs(int fd) { return TRY(file_system_of(fd)) == TMPFS_MAGIC; }

Result<std::string> path_of(int proc, int fd) { return process_link(proc, self(fd)); }

Result<UniqueFd> own_descriptors(int proc) {
  return check_fd(::openat(proc, "self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC), {"openat(self/fd)"});
}

Result<std::string> path_in(int descriptors, int fd) { return process_link(descriptors, std::to_string(fd)); }

Result<UniqueFd> open_at(int directory, const std::string& name, int flags, mode_t mode) {
  const int all = flags | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC | O_NONBLOCK;
  return check_fd(retry([&] { return ::openat(directory, name.c_str(), all, mode); }), {"openat(", name, ")"});
}

Result<UniqueFd> make_at(int directory, const std::string& name, int flags, mode_t mode) {
  const int all = flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  return check_fd(retry([&] { return ::openat(directory, name.c_str(), all, mode); }), {"openat(", name, ")"});
}

// The path ends in a link of proc(5), which must be followed.
Result<UniqueFd> open_again(int fd, int flags) {
  const int all = (flags & ~O_NOFOLLOW) | O_NOCTTY | O_CLOEXEC | O_NONBLOCK;
  return check_fd(retry([&] { return ::openat(AT_FDCWD, self(fd).c_str(), all); }), {"openat(self)"});
}

Status clear_nonblocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  TRY(check(flags, {"fcntl(F_GETFL)"}));
  return check(::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK), {"fcntl(F_SETFL)"});
}

Status truncate_file(int fd, std::int64_t size) {
  return check(retry([&] { return ::ftruncate(fd, size); }), {"ftruncate()"});
}

Status make_directory_at(int directory, const std::string& name, mode_t mode) {
  return check(::mkdirat(directory, name.c_str(), mode), {"mkdirat(", name, ")"});
}

Status make_node_at(int directory, const std::string& name, mode_t mode, dev_t device) {
  return check(::mknodat(directory, name.c_str(), mode, device), {"mknodat(", name, ")"});
}

Status make_symlink_at(const std::string& text, int directory, const std::string& name) {
  return check(::symlinkat(text.c_str(), directory, name.c_str()), {"symlinkat(", name, ")"});
}

Status link_at(int from, const std::string& name, int to, const std::string& new_name) {
  return check(::linkat(from, name.c_str(), to, new_name.c_str(), 0), {"linkat(", name, ")"});
}

Status give_name(int fd, int to, const std::string& name) {
  return check(::linkat(AT_FDCWD, self(fd).c_str(), to, name.c_str(), AT_SYMLINK_FOLLOW), {"linkat(", name, ")"});
}

Status rename_with(int from, const std::string& name, int to, const std::string& new_name, unsigned flags) {
  return check(::renameat2(from, name.c_str(), to, new_name.c_str(), flags), {"renameat2(", name, ")"});
}

Status unlink_with(int directory, const std::string& name, int flags) {
  return check(::unlinkat(directory, name.c_str(), flags), {"unlinkat(", name, ")"});
}

// chmod(2) by way of proc(5): fchmodat2(2) came with Linux 6.6.
Status set_mode_of(int fd, mode_t mode) { return check(::chmod(self(fd).c_str(), mode), {"chmod()"}); }

Status set_owner_of(int fd, std::uint32_t uid, std::uint32_t gid) {
  return check(::fchownat(fd, "", uid, gid, AT_EMPTY_PATH), {"fchownat()"});
}

Status set_times_of(int fd, const std::optional<std::array<timespec, 2>>& times) {
  return check(::utimensat(AT_FDCWD, self(fd).c_str(), times ? times->data() : nullptr, 0), {"utimensat()"});
}

Status check_access_of(int fd, int mode, int flags) {
  return check(::syscall(SYS_faccessat2, AT_FDCWD, self(fd).c_str(), mode, flags & AT_EACCESS), {"faccessat2()"});
}

Status set_attribute_of(int fd, const std::string& name, const std::string& value, int flags) {
  return check(::setxattr(self(fd).c_str(), name.c_str(), value.data(), value.size(), flags), {"setxattr(", name, ")"});
}

bool has_attribute(int fd, const char* name) { return ::fgetxattr(fd, name, nullptr, 0) >= 0; }

Status remove_attribute_of(int fd, const std::string& name) {
  return check(::removexattr(self(fd).c_str(), name.c_str()), {"removexattr(", name, ")"});
}

// /proc/PID/fd of a process that made itself unreadable is root's (proc(5)), and CAP_SYS_PTRACE does not open it; this
// it allows.
Result<UniqueFd> take_descriptor(int proc, pid_t thread, int number) {
  long opened = ::syscall(SYS_pidfd_open, thread, kPidfdThread);
  if (opened < 0 && errno == EINVAL) {
    const std::string path = cat({std::to_string(thread), "/status"});
    const std::string status = TRY(beginning_of(proc, path));
    opened = ::syscall(SYS_pidfd_open, TRY(number_in(status, path, "\nTgid:\t", 10)), 0);
  }
  const UniqueFd pidfd = TRY(check_fd(static_cast<int>(opened), {"pidfd_open()"}));
  return check_fd(static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd.get(), number, 0)), {"pidfd_getfd()"});
}

Status stay_in(int directory) { return check(::fchdir(directory), {"fchdir()"}); }

}  // namespace hutch::sys
