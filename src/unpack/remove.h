// Removing what a sandbox, or an import that broke off, has left.
#pragma once

#include "base/result.h"

namespace hutch::unpack {

// Everything in the root of this process, whoever owns it in its user namespace and whatever its mode.
Status remove_everything();

}  // namespace hutch::unpack
