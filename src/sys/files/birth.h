// When a file was made: statx(2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hutch::sys {

// In nanoseconds since the epoch, of `name` in the directory, a symbolic link not followed; 0 where its file system
// does not keep it, or is a server of some user's, who says what they like (FUSE).
Result<std::int64_t> birth_ns(int directory, const std::string& name);
// Likewise, of an open file; `name` is for the error.
Result<std::int64_t> birth_of(int file, std::string_view name);

}  // namespace hutch::sys
