// Checksums of what virtual machines are started from.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hutch::service {

// Files of these names are a machine's memory, or its disk: gigabytes, nearly all of them zero. Of them, blocks of
// zeros count as holes do, so that a copy without holes is the same.
inline constexpr std::string_view kMachineMemory = "memory";
inline constexpr std::string_view kRootedMemory = "rooted-memory";
inline constexpr std::string_view kRootedChanges = "rooted-changes";

// SHA-256 in hexadecimal of the file at `path`, which is called `name` among the others.
Result<std::string> sum_of_named(std::string_view name, const std::string& path);
inline Result<std::string> sum_of_file(const std::string& path) { return sum_of_named({}, path); }

}  // namespace hutch::service
