// A file's content as another's.
#include "sys/process/clone.h"

#include <linux/fs.h>
#include <sys/ioctl.h>

#include "sys/call.h"

namespace hutch::sys {

Status clone_content(int from, int to) { return check(::ioctl(to, FICLONE, from), {"ioctl(FICLONE)"}); }

}  // namespace hutch::sys
