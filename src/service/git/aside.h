// Moves what a command left in a repository to where git does not find it.
#pragma once

#include <string>

namespace hutch::service {

// Moves `path` below the directory `quarantine`, or, on another file system, within its own directory, and says where
// it is now. If it could not be moved, the text says what to do. With no `quarantine` it stays.
std::string taken_away(const std::string& path, const std::string& quarantine);

}  // namespace hutch::service
