// When a file was made.
#include "sys/files/birth.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/unique_fd.h"
#include "sys/call.h"
#include "sys/files/beneath.h"

namespace hutch::sys {

Result<std::int64_t> birth_ns(int directory, const std::string& name) {
  const UniqueFd file = TRY(open_beneath(directory, name, Beneath::kLink));
  return birth_of(file.get(), name);
}

Result<std::int64_t> birth_of(int file, std::string_view name) {
  static constexpr std::int64_t kSecond = 1'000'000'000;
  struct statfs system{};
  TRY(check(::fstatfs(file, &system), {"fstatfs(", name, ")"}));
  if (system.f_type == FUSE_SUPER_MAGIC) return 0;
  struct statx info{};
  TRY(check(::statx(file, "", AT_EMPTY_PATH, STATX_BTIME, &info), {"statx(", name, ")"}));
  const bool is_kept = (info.stx_mask & STATX_BTIME) != 0;
  return is_kept ? info.stx_btime.tv_sec * kSecond + info.stx_btime.tv_nsec : 0;
}

}  // namespace hutch::sys
