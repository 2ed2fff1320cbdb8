// Paths as a person typed them, with symbolic links on the way.
#pragma once

#include <string>
#include <string_view>

#include "plan/path_facts.h"

namespace hutch::host {

// Empty where `typed` is not an absolute path without "." and "..", does not lead to `directory`, which is canonical,
// or is the same name. That is how a shell checks PWD (POSIX, "pwd").
plan::TypedPath typed_path(std::string_view typed, const std::string& directory);

// Entries of allowUnixSockets, absolute by then, with their directories as they really are: /var/run is often /run. The
// last component stays as it is written, so that nobody else's link decides what it means.
std::string settled_socket(const std::string& entry);

}  // namespace hutch::host
