// Which file code was loaded from: dladdr(3).
#pragma once

#include <string>

#include "base/result.h"

namespace hutch::sys {

// The canonical path of the program or shared library that an address of this process's code lies in.
Result<std::string> file_of_code(const void* address);

}  // namespace hutch::sys
