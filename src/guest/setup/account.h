// The line of the sandbox's own user in the image's /etc/passwd and the like.
#pragma once

#include "base/result.h"
#include "plan/plan.h"

namespace hutch::guest {

// The step's line becomes the first of the file, unless a line for its name is there already. A file that is not there
// is made; where there is something else by its name, it is left alone.
Status add_account(int root, const plan::MountStep& step);

}  // namespace hutch::guest
