// The name of a directory as a person typed it, with symbolic links on the way.
#pragma once

#include <string>
#include <string_view>

#include "plan/path_facts.h"

namespace hutch::host {

// Empty where `typed` is not an absolute path without "." and "..", does not lead to `directory`, which is canonical,
// or is the same name. That is how a shell checks PWD (POSIX, "pwd").
plan::TypedPath typed_path(std::string_view typed, const std::string& directory);

}  // namespace hutch::host
