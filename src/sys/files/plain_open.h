// openat2(2) for reading.
#pragma once

#include <string>

struct open_how;

namespace hutch::sys {

// As the system call, errno with it; of a size by which a filter knows that the call changes nothing.
long plain_openat2(int directory, const std::string& path, const open_how& how);

}  // namespace hutch::sys
