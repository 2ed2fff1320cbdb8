// Landlock and seccomp.
#include "sys/process/lockdown.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/call.h"
#include "sys/files/files.h"
#include "sys/kernel_abi.h"

namespace hutch::sys {

namespace {

constexpr std::uint64_t kReadRights =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;

std::uint64_t all_rights(int abi) {
  std::uint64_t rights = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
  if (abi >= 2) rights |= LANDLOCK_ACCESS_FS_REFER;
  if (abi >= 3) rights |= kLandlockTruncate;
  if (abi >= 5) rights |= kLandlockIoctlDev;
  return rights;
}

// A rule on a file may only name rights that make sense for files, else the kernel answers EINVAL (landlock(7)).
constexpr std::uint64_t kFileRights = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                      LANDLOCK_ACCESS_FS_READ_FILE | kLandlockTruncate | kLandlockIoctlDev;

Status add_rule(int ruleset, const std::string& path, std::uint64_t rights) {
  const UniqueFd fd = TRY(open(path, Open::kPath));
  const FileIdentity info = TRY(identify(fd.get()));
  landlock_path_beneath_attr rule{};
  rule.allowed_access = S_ISDIR(info.mode) ? rights : rights & kFileRights;
  rule.parent_fd = fd.get();
  return check(::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0),
               {"landlock_add_rule(", path, ")"});
}

}  // namespace

Result<int> landlock_abi() {
  const auto abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (abi < 0 && (errno == ENOSYS || errno == EOPNOTSUPP)) return 0;
  TRY(check(abi, {"landlock_create_ruleset(VERSION)"}));
  return static_cast<int>(abi);
}

Status enter_landlock(int abi, const std::vector<std::string>& readable, const std::vector<std::string>& writable,
                      SignalScope signals) {
  if (abi == 0) return {};
  LandlockRulesetAttr attributes{};
  attributes.handled_access_fs = all_rights(abi);
  std::size_t size = sizeof attributes.handled_access_fs;
  if (abi >= 6) {
    attributes.scoped = kLandlockScopeAbstractUnix;
    if (signals == SignalScope::kWithin) attributes.scoped |= kLandlockScopeSignal;
    size = sizeof attributes;
  }
  const auto raw = ::syscall(SYS_landlock_create_ruleset, &attributes, size, 0);
  const UniqueFd ruleset = TRY(check_fd(raw, {"landlock_create_ruleset()"}));
  // ioctl on a device is a right of the read side as well: a terminal or /dev/null is asked for its settings.
  for (const std::string& path : readable) {
    const std::uint64_t device_ioctl = abi >= 5 ? kLandlockIoctlDev : 0;
    TRY(add_rule(ruleset.get(), path, kReadRights | device_ioctl));
  }
  for (const std::string& path : writable) TRY(add_rule(ruleset.get(), path, all_rights(abi)));
  return check(::syscall(SYS_landlock_restrict_self, ruleset.get(), 0), {"landlock_restrict_self()"});
}

Status give_up_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  return check(::syscall(SYS_capset, &header, none), {"capset(none)"});
}

Result<std::optional<UniqueFd>> install_filter(const void* instructions, std::size_t count, Listener listener) {
  sock_fprog program{};
  program.len = static_cast<unsigned short>(count);
  // The kernel reads the program and does not keep or change it; the field is not const for history alone.
  program.filter = static_cast<sock_filter*>(const_cast<void*>(instructions));
  const bool wanted = listener == Listener::kWanted;
  const unsigned int flags = wanted ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
  const auto answer = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
  TRY(check(answer, {"seccomp(SET_MODE_FILTER)"}));
  if (!wanted) return std::optional<UniqueFd>();
  return std::optional<UniqueFd>(UniqueFd(static_cast<int>(answer)));
}

}  // namespace hutch::sys
