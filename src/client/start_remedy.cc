// What whoever types can do about a daemon that does not start, by the kernel's reason.
#include "client/start_remedy.h"

#include <cerrno>

#include "base/text.h"

namespace hutch::client {

namespace {

constexpr const char* kElsewhere = "set HUTCH_STATE to the absolute path of another directory";

std::string remedy_of(int err, const host::StateDirs& dirs) {
  const std::string places = cat({printable(dirs.data), " and ", printable(dirs.runtime)});
  switch (err) {
    case ENOSPC:
    case EDQUOT: return cat({"make room for ", places, " (df tells), or ", kElsewhere});
    case EROFS: return cat({"have ", places, " on a file system that can be written, or ", kElsewhere});
    case EACCES:
    case EPERM: return cat({"let ", places, " be directories of this user's own (ls -ld tells), or ", kElsewhere});
    case ENOTDIR:
    case ELOOP: return cat({"move away what is no directory above or at ", places, ", or ", kElsewhere});
    default: return {};
  }
}

}  // namespace

Error with_start_remedy(Error error, const host::StateDirs& dirs) {
  const std::string remedy = remedy_of(error.sys_errno, dirs);
  if (!remedy.empty()) error.message += cat({"; ", remedy});
  return error;
}

}  // namespace hutch::client
