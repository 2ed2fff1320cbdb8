// Where a program that links the library finds hutch-guest.
#pragma once

#include <string>

#include "base/result.h"

namespace hutch::api {

// `given` where it is not empty. Else beside the calling program; where the library was installed; $HUTCH_GUEST.
Result<std::string> locate_guest(const std::string& given);

}  // namespace hutch::api
