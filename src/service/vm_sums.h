// Checksums of what virtual machines are started from.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hutch::service {

// A file of this name is a machine's memory: gigabytes, nearly all of them zero. Of it, blocks of zeros count as holes
// do, so that a copy without holes is the same.
inline constexpr std::string_view kMachineMemory = "memory";

// SHA-256 in hexadecimal of the file at `path`, which is called `name` among the others.
Result<std::string> sum_of_named(std::string_view name, const std::string& path);
inline Result<std::string> sum_of_file(const std::string& path) { return sum_of_named({}, path); }

}  // namespace hutch::service
