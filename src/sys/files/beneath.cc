// Files below a directory that others may change meanwhile.
#include "sys/files/beneath.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstring>
#include <tuple>
#include <utility>

#include "base/put_content.h"
#include "base/text.h"
#include "sys/call.h"
#include "sys/files/plain_open.h"
#include "sys/io.h"

namespace hutch::sys {

namespace {

constexpr std::int64_t kNanosecondsASecond = 1'000'000'000;

std::int64_t nanoseconds(const statx_timestamp& time);
EntryKind kind_of(unsigned mode);
EntryKind kind_of_type(unsigned char type);
std::pair<std::uint64_t, std::uint64_t> beneath_flags(Beneath how);
Status copy_range(int from, int to, off_t size, const std::function<Status()>& go_on);

}  // namespace

Result<UniqueFd> open_beneath(int directory, const std::string& path, Beneath how) {
  open_how request{};
  std::tie(request.flags, request.resolve) = beneath_flags(how);
  // A rename anywhere while ".." was followed is EAGAIN (openat2(2)): it may be tried again, but not for ever.
  static constexpr int kTriesMax = 100;
  for (int tries = 1;; ++tries) {
    const auto fd = plain_openat2(directory, path, request);
    if (fd < 0 && errno == EAGAIN && tries < kTriesMax) continue;
    return check_fd(fd, {"openat2(", path, ")"});
  }
}

Result<FileStatus> file_status(int directory, const std::string& name) {
  struct statx info{};
  const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (name.empty() ? AT_EMPTY_PATH : 0);
  TRY(check(::statx(directory, name.c_str(), flags, STATX_BASIC_STATS | STATX_MNT_ID, &info), {"statx(", name, ")"}));
  return FileStatus{.kind = kind_of(info.stx_mode),
                    .mode = info.stx_mode & 07777U,
                    .owner = info.stx_uid,
                    .group = info.stx_gid,
                    .device = std::uint64_t{info.stx_dev_major} << 32 | info.stx_dev_minor,
                    .inode = info.stx_ino,
                    .size = info.stx_size,
                    .modified_ns = nanoseconds(info.stx_mtime),
                    .changed_ns = nanoseconds(info.stx_ctime),
                    .links = info.stx_nlink,
                    .mount = (info.stx_mask & STATX_MNT_ID) != 0 ? info.stx_mnt_id : 0};
}

Result<std::string> link_text(int directory, const std::string& name) {
  std::array<char, PATH_MAX> text;
  const ssize_t size = ::readlinkat(directory, name.c_str(), text.data(), text.size());
  TRY(check(size, {"readlinkat(", name, ")"}));
  return std::string(text.data(), static_cast<std::size_t>(size));
}

Result<std::vector<TreeEntry>> first_names(int directory, std::size_t count_max) {
  std::vector<TreeEntry> names;
  TRY(check(::lseek(directory, 0, SEEK_SET), {"lseek(directory)"}));
  alignas(dirent64) std::array<char, 16384> buffer;
  for (;;) {
    const long length = ::syscall(SYS_getdents64, directory, buffer.data(), buffer.size());
    TRY(check(length, {"getdents64()"}));
    if (length == 0) return names;
    for (std::size_t at = 0; at < static_cast<std::size_t>(length);) {
      const char* record = buffer.data() + at;
      unsigned short size = 0;
      std::memcpy(&size, record + offsetof(dirent64, d_reclen), sizeof size);
      const auto type = static_cast<unsigned char>(record[offsetof(dirent64, d_type)]);
      const std::string_view name(record + offsetof(dirent64, d_name));
      at += size;
      if (name == "." || name == "..") continue;
      if (names.size() == count_max) return names;
      names.push_back({std::string(name), kind_of_type(type)});
    }
  }
}

Result<std::string> read_at(int fd, std::uint64_t offset, std::size_t bytes_max) {
  std::string bytes;
  // Beyond what an offset can say there is nothing.
  if (offset > static_cast<std::uint64_t>(LLONG_MAX) - bytes_max) return bytes;
  // Most files are small: memory that is asked for is faulted in page by page.
  static constexpr std::size_t kFirstStep = 4 << 10;
  static constexpr std::size_t kStepMax = 256 << 10;
  for (std::size_t step = kFirstStep; bytes.size() < bytes_max; step = std::min(2 * step, kStepMax)) {
    const std::size_t had = bytes.size();
    const std::size_t wanted = std::min(step, bytes_max - had);
    const auto at = static_cast<off_t>(offset + had);
    ssize_t count = 0;
    bytes.resize_and_overwrite(had + wanted, [&](char* data, std::size_t) {
      count = retry([&] { return ::pread(fd, data + had, wanted, at); });
      return had + static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    });
    TRY(check(count, {"pread()"}));
    if (count == 0) break;
  }
  return bytes;
}

Status rename_at(int from, const std::string& name, int to, const std::string& new_name, Replacing replacing) {
  const unsigned flags = replacing == Replacing::kRefused     ? RENAME_NOREPLACE
                         : replacing == Replacing::kExchanged ? RENAME_EXCHANGE
                                                              : 0U;
  return check(::renameat2(from, name.c_str(), to, new_name.c_str(), flags), {"rename(", name, ", ", new_name, ")"});
}

Result<std::uint64_t> put_content(int directory, const std::string& name, std::string_view content,
                                  std::uint32_t mode) {
  PutContent call;
  call.address = reinterpret_cast<std::uintptr_t>(content.data());
  call.size = content.size();
  call.mode = mode;
  const long answer = ::syscall(SYS_renameat2, AT_FDCWD, &call, directory, name.c_str(), kPutContentFlag);
  TRY(check(answer, {"write(", name, ")"}));
  return static_cast<std::uint64_t>(answer);
}

void start_writing_out(int fd) { ::sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE); }

Status unlink_at(int directory, const std::string& name) {
  return check(::unlinkat(directory, name.c_str(), 0), {"unlink(", name, ")"});
}

Status remove_directory_at(int directory, const std::string& name) {
  return check(::unlinkat(directory, name.c_str(), AT_REMOVEDIR), {"rmdir(", name, ")"});
}

Status check_writable_at(int directory, const std::string& name) {
  return check(::faccessat(directory, name.c_str(), W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW), {"access(", name, ")"});
}

Status set_mode(int fd, std::uint32_t mode) { return check(::fchmod(fd, mode), {"fchmod()"}); }

Status set_modified(int fd, std::int64_t modified_ns) {
  std::int64_t seconds = modified_ns / kNanosecondsASecond;
  std::int64_t rest = modified_ns % kNanosecondsASecond;
  if (rest < 0) {
    seconds -= 1;
    rest += kNanosecondsASecond;
  }
  const timespec times[2] = {{0, UTIME_NOW}, {seconds, rest}};
  return check(::futimens(fd, times), {"futimens()"});
}

Result<std::optional<Extent>> next_data(int fd, std::uint64_t at) {
  const off_t data = ::lseek(fd, static_cast<off_t>(at), SEEK_DATA);
  if (data < 0 && errno == ENXIO) return std::optional<Extent>();  // nothing but a hole follows
  TRY(check(data, {"lseek(SEEK_DATA)"}));
  const off_t hole = ::lseek(fd, data, SEEK_HOLE);
  TRY(check(hole, {"lseek(SEEK_HOLE)"}));
  return Extent{static_cast<std::uint64_t>(data), static_cast<std::uint64_t>(hole)};
}

Status copy_content(int from, int to, const std::function<Status()>& go_on) {
  struct stat info{};
  TRY(check(::fstat(from, &info), {"fstat()"}));
  std::uint64_t at = 0;
  while (at < static_cast<std::uint64_t>(info.st_size)) {
    const auto extent = TRY(next_data(from, at));
    if (!extent) break;
    const auto data = static_cast<off_t>(extent->begin);
    TRY(check(::lseek(from, data, SEEK_SET), {"lseek()"}));
    TRY(check(::lseek(to, data, SEEK_SET), {"lseek()"}));
    TRY(copy_range(from, to, static_cast<off_t>(extent->end) - data, go_on));
    at = extent->end;
  }
  return check(::ftruncate(to, info.st_size), {"ftruncate()"});
}

namespace {

std::int64_t nanoseconds(const statx_timestamp& time) { return time.tv_sec * kNanosecondsASecond + time.tv_nsec; }

EntryKind kind_of(unsigned mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR: return EntryKind::kDirectory;
    case S_IFREG: return EntryKind::kFile;
    case S_IFLNK: return EntryKind::kSymlink;
    default: return EntryKind::kOther;
  }
}

EntryKind kind_of_type(unsigned char type) {
  return type == DT_UNKNOWN ? EntryKind::kUnknown : kind_of(static_cast<unsigned>(DTTOIF(type)));
}

std::pair<std::uint64_t, std::uint64_t> beneath_flags(Beneath how) {
  constexpr std::uint64_t kContained = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  switch (how) {
    case Beneath::kPath: return {O_PATH | O_CLOEXEC, kContained};
    case Beneath::kLink: return {O_PATH | O_NOFOLLOW | O_CLOEXEC, kContained};
    case Beneath::kDirectory: return {O_PATH | O_DIRECTORY | O_CLOEXEC, kContained};
    case Beneath::kListing: return {O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, kContained | RESOLVE_NO_SYMLINKS};
    case Beneath::kRead: return {O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, kContained};
    case Beneath::kReadExact:
      return {O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC, kContained | RESOLVE_NO_SYMLINKS};
  }
  return {O_PATH | O_CLOEXEC, kContained};
}

bool cannot(int error) { return error == EXDEV || error == EINVAL || error == ENOSYS || error == EOPNOTSUPP; }

Status copy_range(int from, int to, off_t size, const std::function<Status()>& go_on) {
  static constexpr off_t kStep = 8 << 20;
  while (size > 0) {
    TRY(go_on());
    const auto wanted = static_cast<std::size_t>(std::min(kStep, size));
    ssize_t count = retry([&] { return ::copy_file_range(from, nullptr, to, nullptr, wanted, 0); });
    // Between two file systems of different kinds the kernel copies only so (copy_file_range(2), sendfile(2)).
    if (count < 0 && cannot(errno)) count = retry([&] { return ::sendfile(to, from, nullptr, wanted); });
    if (count < 0 && cannot(errno)) {
      std::array<char, 65536> chunk;
      const std::size_t size_read = TRY(read_some(from, std::span(chunk).first(std::min(wanted, chunk.size()))));
      TRY(write_all(to, {chunk.data(), size_read}));
      count = static_cast<ssize_t>(size_read);
    }
    TRY(check(count, {"copy_file_range()"}));
    if (count == 0) return {};  // it became shorter meanwhile
    size -= count;
  }
  return {};
}

}  // namespace

}  // namespace hutch::sys
