// The arguments of the calls that change files or name a socket.
#include "guest/places/access_arguments.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include <algorithm>
#include <climits>

#include "base/put_content.h"
#include "base/text.h"
#include "sys/net/foreign_socket.h"

namespace hutch::guest {

namespace {

constexpr std::size_t kAttributeNameMax = 256;    // XATTR_NAME_MAX and its end
constexpr std::size_t kAttributeBytesMax = 65536;  // XATTR_SIZE_MAX
constexpr int kFchmodat2 = 452;                    // of Linux 6.6; the same number everywhere

// All flags of open(2); what openat2(2) takes.
constexpr std::uint64_t kOpenFlags = O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK |
                                     O_SYNC | O_ASYNC | O_DIRECT | 0100000 /* O_LARGEFILE */ | O_NOFOLLOW | O_NOATIME |
                                     O_CLOEXEC | O_PATH | O_TMPFILE /* with O_DIRECTORY */;

// Reads the arguments of one call by their places.
class Arguments {
 public:
  explicit Arguments(const sys::Notification& raw) : raw_(raw) { call_.raw = raw; }

  Result<std::optional<AccessCall>> read();

 private:
  Status read_opening();
  Status read_looking();
  Status read_making();
  Status read_moving();
  Status read_content();
  Status read_changing();
  Status read_times();
  Status read_attribute();
  Status read_socket();

  int number(unsigned at) const { return static_cast<int>(raw_.arguments[at]); }
  pid_t caller() const { return static_cast<pid_t>(raw_.pid); }
  Status path(CallerPath& into, int directory, unsigned at);
  Status as(AccessKind kind, int directory, unsigned at);
  Status as_at(AccessKind kind, unsigned at, int flags);
  Status how();
  AccessKind asking() const;
  void follow(int flags);
  void on_descriptor(AccessKind kind);
  template <class Pair, class Convert>
  Status two_times(unsigned at, Convert convert);

  const sys::Notification& raw_;
  AccessCall call_;
  bool known_ = false;
};

}  // namespace

Result<std::optional<AccessCall>> read_access_call(const sys::Notification& raw) { return Arguments(raw).read(); }

namespace {

Result<std::optional<AccessCall>> Arguments::read() {
  for (const auto part :
       {&Arguments::read_opening, &Arguments::read_looking, &Arguments::read_making, &Arguments::read_moving,
        &Arguments::read_changing, &Arguments::read_times, &Arguments::read_attribute, &Arguments::read_socket}) {
    TRY((this->*part)());
    if (known_) return std::optional(std::move(call_));
  }
  return std::optional<AccessCall>();
}

Status Arguments::read_opening() {
  using enum AccessKind;
  switch (raw_.syscall) {
#ifdef SYS_open
    case SYS_open:
      call_.flags = number(1);
      call_.mode = static_cast<mode_t>(number(2));
      return as(kOpen, AT_FDCWD, 0);
    case SYS_creat:
      call_.flags = O_WRONLY | O_CREAT | O_TRUNC;
      call_.mode = static_cast<mode_t>(number(1));
      return as(kOpen, AT_FDCWD, 0);
    case SYS_access: call_.mode = static_cast<mode_t>(number(1)); return as(asking(), AT_FDCWD, 0);
#endif
    case SYS_openat:
      call_.flags = number(2);
      call_.mode = static_cast<mode_t>(number(3));
      return as(kOpen, number(0), 1);
    case SYS_umask:
      call_.kind = kCreationMask;
      known_ = true;
      return {};
    case SYS_openat2: TRY(how()); return as(kOpen, number(0), 1);
    case SYS_faccessat2: call_.flags = number(3); [[fallthrough]];
    case SYS_faccessat: call_.mode = static_cast<mode_t>(number(2)); return as_at(asking(), 1, call_.flags);
    case SYS_truncate: call_.size = static_cast<std::int64_t>(raw_.arguments[1]); return as(kTruncate, AT_FDCWD, 0);
    default: return {};
  }
}

// Whether something may be written is the supervisor's to say; the rest the mounts tell.
AccessKind Arguments::asking() const { return (call_.mode & W_OK) != 0 ? AccessKind::kAskAccess : AccessKind::kLook; }

Status Arguments::read_looking() {
  using enum AccessKind;
  switch (raw_.syscall) {
#ifdef SYS_open
    case SYS_lstat:
    case SYS_readlink: call_.last = sys::LastLink::kKeep; [[fallthrough]];
    case SYS_stat: return as(kLook, AT_FDCWD, 0);
#endif
    case SYS_chdir:
    case SYS_execve: return as(kLook, AT_FDCWD, 0);
    case SYS_newfstatat: return as_at(kLook, 1, number(3));
    case SYS_statx: return as_at(kLook, 1, number(2));
    case SYS_execveat: return as_at(kLook, 1, number(4));
    case SYS_readlinkat: call_.last = sys::LastLink::kKeep; return as(kLook, number(0), 1);
    default: return {};
  }
}

Status Arguments::read_making() {
  using enum AccessKind;
  switch (raw_.syscall) {
#ifdef SYS_open
    case SYS_mkdir: call_.mode = static_cast<mode_t>(number(1)); return as(kMakeDirectory, AT_FDCWD, 0);
    case SYS_mknod:
      call_.mode = static_cast<mode_t>(number(1));
      call_.device = static_cast<dev_t>(static_cast<unsigned>(number(2)));
      return as(kMakeNode, AT_FDCWD, 0);
    case SYS_symlink:
      call_.text = TRY(sys::read_text_of(caller(), raw_.arguments[0], PATH_MAX));
      return as(kMakeSymlink, AT_FDCWD, 1);
    case SYS_unlink: return as(kRemove, AT_FDCWD, 0);
    case SYS_rmdir: call_.flags = AT_REMOVEDIR; return as(kRemove, AT_FDCWD, 0);
#endif
    case SYS_mkdirat: call_.mode = static_cast<mode_t>(number(2)); return as(kMakeDirectory, number(0), 1);
    case SYS_mknodat:
      call_.mode = static_cast<mode_t>(number(2));
      call_.device = static_cast<dev_t>(static_cast<unsigned>(number(3)));
      return as(kMakeNode, number(0), 1);
    case SYS_symlinkat:
      call_.text = TRY(sys::read_text_of(caller(), raw_.arguments[0], PATH_MAX));
      return as(kMakeSymlink, number(1), 2);
    case SYS_unlinkat: call_.flags = number(2); return as(kRemove, number(0), 1);
    default: return {};
  }
}

Status Arguments::read_moving() {
  using enum AccessKind;
  switch (raw_.syscall) {
#ifdef SYS_open
    case SYS_rename: TRY(path(call_.other, AT_FDCWD, 1)); return as(kRename, AT_FDCWD, 0);
    case SYS_link:
      TRY(path(call_.other, AT_FDCWD, 1));
      call_.last = sys::LastLink::kKeep;
      return as(kLink, AT_FDCWD, 0);
#endif
    case SYS_renameat2:
      call_.flags = number(4);
      if (static_cast<unsigned>(call_.flags) == kPutContentFlag) return read_content();
      [[fallthrough]];
#ifdef SYS_renameat
    case SYS_renameat:
#endif
      TRY(path(call_.other, number(2), 3));
      return as(kRename, number(0), 1);
    case SYS_linkat:
      TRY(path(call_.other, number(2), 3));
      call_.flags = number(4);
      call_.last = (number(4) & AT_SYMLINK_FOLLOW) != 0 ? sys::LastLink::kFollow : sys::LastLink::kKeep;
      return as(kLink, number(0), 1);
    default: return {};
  }
}

Status Arguments::read_content() {
  PutContent content;
  TRY(sys::read_memory_of(caller(), raw_.arguments[1], &content, sizeof content));
  const bool known = content.path == PutContent().path && content.size <= kPutContentBytesMax && content.mode <= 0777;
  if (!known) return fail(Error::from_errno("renameat2()", EINVAL));
  call_.mode = static_cast<mode_t>(content.mode);
  call_.text.resize(content.size);
  if (content.size > 0) TRY(sys::read_memory_of(caller(), content.address, call_.text.data(), call_.text.size()));
  return as(AccessKind::kPutContent, number(2), 3);
}

Status Arguments::read_changing() {
  using enum AccessKind;
  const auto owner = [&](unsigned at) {
    call_.uid = static_cast<std::uint32_t>(number(at));
    call_.gid = static_cast<std::uint32_t>(number(at + 1));
  };
  switch (raw_.syscall) {
#ifdef SYS_open
    case SYS_chmod: call_.mode = static_cast<mode_t>(number(1)); return as(kMode, AT_FDCWD, 0);
    case SYS_lchown: call_.last = sys::LastLink::kKeep; [[fallthrough]];
    case SYS_chown: owner(1); return as(kOwner, AT_FDCWD, 0);
#endif
    case SYS_fchmod:
      call_.mode = static_cast<mode_t>(number(1));
      on_descriptor(kMode);
      return {};
    case kFchmodat2: call_.mode = static_cast<mode_t>(number(2)); return as_at(kMode, 1, number(3));
    case SYS_fchmodat: call_.mode = static_cast<mode_t>(number(2)); return as(kMode, number(0), 1);
    case SYS_fchown:
      owner(1);
      on_descriptor(kOwner);
      return {};
    case SYS_fchownat: owner(2); return as_at(kOwner, 1, number(4));
    default: return {};
  }
}

Status Arguments::read_times() {
  using enum AccessKind;
  const auto whole = [](std::int64_t seconds) { return timespec{seconds, 0}; };
  const auto micro = [](const timeval& time) { return timespec{time.tv_sec, time.tv_usec * 1000}; };
  switch (raw_.syscall) {
#ifdef SYS_open
    case SYS_utime: TRY((two_times<std::array<std::int64_t, 2>>(1, whole))); return as(kTimes, AT_FDCWD, 0);
    case SYS_utimes: TRY((two_times<std::array<timeval, 2>>(1, micro))); return as(kTimes, AT_FDCWD, 0);
    case SYS_futimesat: TRY((two_times<std::array<timeval, 2>>(2, micro))); return as(kTimes, number(0), 1);
#endif
    case SYS_utimensat:
      TRY((two_times<std::array<timespec, 2>>(2, [](const timespec& time) { return time; })));
      if (raw_.arguments[1] != 0) return as_at(kTimes, 1, number(3));
      on_descriptor(kTimes);
      return {};
    default: return {};
  }
}

Status Arguments::read_attribute() {
  using enum AccessKind;
  const auto name = [&]() -> Status {
    call_.text = TRY(sys::read_text_of(caller(), raw_.arguments[1], kAttributeNameMax));
    return {};
  };
  const auto value = [&]() -> Status {
    if (raw_.arguments[3] > kAttributeBytesMax) return fail(Error::from_errno("setxattr", E2BIG));
    call_.value.resize(raw_.arguments[3]);
    call_.flags = number(4);
    return call_.value.empty()
               ? Status()
               : sys::read_memory_of(caller(), raw_.arguments[2], call_.value.data(), call_.value.size());
  };
  switch (raw_.syscall) {
    case SYS_lsetxattr: call_.last = sys::LastLink::kKeep; [[fallthrough]];
    case SYS_setxattr:
      TRY(name());
      TRY(value());
      return as(kSetAttribute, AT_FDCWD, 0);
    case SYS_fsetxattr:
      TRY(name());
      TRY(value());
      on_descriptor(kSetAttribute);
      return {};
    case SYS_lremovexattr: call_.last = sys::LastLink::kKeep; [[fallthrough]];
    case SYS_removexattr: TRY(name()); return as(kRemoveAttribute, AT_FDCWD, 0);
    case SYS_fremovexattr:
      TRY(name());
      on_descriptor(kRemoveAttribute);
      return {};
    default: return {};
  }
}

Status Arguments::read_socket() {
  if (raw_.syscall != SYS_connect && raw_.syscall != SYS_bind) return {};
  const int size = number(2);
  if (size < 0 || static_cast<std::size_t>(size) > sys::kSocketAddressMax) {
    return fail(Error::from_errno("a socket's address", EINVAL));
  }
  call_.text.resize(static_cast<std::size_t>(size));
  if (size > 0) TRY(sys::read_memory_of(caller(), raw_.arguments[1], call_.text.data(), call_.text.size()));
  on_descriptor(raw_.syscall == SYS_connect ? AccessKind::kConnect : AccessKind::kBind);
  return {};
}

Status Arguments::path(CallerPath& into, int directory, unsigned at) {
  into.caller = caller();
  into.directory = directory;
  into.text = TRY(sys::read_text_of(caller(), raw_.arguments[at], PATH_MAX));
  return {};
}

// An empty path is the descriptor itself, or the current directory, where AT_EMPTY_PATH says so.
Status Arguments::as_at(AccessKind kind, unsigned at, int flags) {
  TRY(as(kind, number(0), at));
  follow(flags);
  if (!call_.path.text.empty() || (flags & AT_EMPTY_PATH) == 0) return {};
  if (number(0) == AT_FDCWD) {
    call_.path.text = ".";
    return {};
  }
  call_.descriptor = number(0);
  call_.is_path_enough = true;
  return {};
}

Status Arguments::as(AccessKind kind, int directory, unsigned at) {
  TRY(path(call_.path, directory, at));
  call_.kind = kind;
  known_ = true;
  return {};
}

// A later, longer form of the structure has nothing that matters for a file that is opened to be written.
Status Arguments::how() {
  ::open_how how{};
  const std::size_t size = std::min<std::size_t>(raw_.arguments[3], sizeof how);
  TRY(sys::read_memory_of(caller(), raw_.arguments[2], &how, size));
  // What the kernel does not take, it shall refuse itself.
  const bool makes = (how.flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) != 0;
  const bool taken = size == sizeof how && (how.flags & ~kOpenFlags) == 0 && how.mode <= (makes ? 07777U : 0U);
  if (!taken) return fail(Error::from_errno("openat2()", EINVAL));
  call_.flags = static_cast<int>(how.flags);
  call_.mode = static_cast<mode_t>(how.mode);
  call_.resolve = how.resolve;
  return {};
}

void Arguments::follow(int flags) {
  call_.last = (flags & AT_SYMLINK_NOFOLLOW) != 0 ? sys::LastLink::kKeep : sys::LastLink::kFollow;
}

void Arguments::on_descriptor(AccessKind kind) {
  call_.kind = kind;
  call_.path.caller = caller();
  call_.descriptor = number(0);
  known_ = true;
}

template <class Pair, class Convert>
Status Arguments::two_times(unsigned at, Convert convert) {
  if (raw_.arguments[at] == 0) return {};
  Pair read{};
  TRY(sys::read_memory_of(caller(), raw_.arguments[at], &read, sizeof read));
  call_.times = std::array<timespec, 2>{convert(read[0]), convert(read[1])};
  return {};
}

}  // namespace

}  // namespace hutch::guest
