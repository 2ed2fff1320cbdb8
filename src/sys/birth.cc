// When a file was made.
#include "sys/birth.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "sys/call.h"

namespace hutch::sys {

Result<std::int64_t> birth_ns(int directory, const std::string& name) {
  static constexpr std::int64_t kSecond = 1'000'000'000;
  struct statx info{};
  const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
  TRY(check(::statx(directory, name.c_str(), flags, STATX_BTIME, &info), {"statx(", name, ")"}));
  const bool is_kept = (info.stx_mask & STATX_BTIME) != 0;
  return is_kept ? info.stx_btime.tv_sec * kSecond + info.stx_btime.tv_nsec : 0;
}

}  // namespace hutch::sys
