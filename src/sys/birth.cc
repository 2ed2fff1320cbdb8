// When a file was made.
#include "sys/birth.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/unique_fd.h"
#include "sys/beneath.h"
#include "sys/call.h"

namespace hutch::sys {

Result<std::int64_t> birth_ns(int directory, const std::string& name) {
  static constexpr std::int64_t kSecond = 1'000'000'000;
  const UniqueFd file = TRY(open_beneath(directory, name, Beneath::kLink));
  struct statfs system{};
  TRY(check(::fstatfs(file.get(), &system), {"fstatfs(", name, ")"}));
  if (system.f_type == FUSE_SUPER_MAGIC) return 0;
  struct statx info{};
  TRY(check(::statx(file.get(), "", AT_EMPTY_PATH, STATX_BTIME, &info), {"statx(", name, ")"}));
  const bool is_kept = (info.stx_mask & STATX_BTIME) != 0;
  return is_kept ? info.stx_btime.tv_sec * kSecond + info.stx_btime.tv_nsec : 0;
}

}  // namespace hutch::sys
