// A file's content as another's, without a copy of its blocks: ioctl_ficlone(2).
#pragma once

#include "base/result.h"

namespace hutch::sys {

// Both have the same blocks until one of them is written. An error where the file system cannot, or they lie on two.
Status clone_content(int from, int to);

}  // namespace hutch::sys
