// Links and second names of the files in a protected directory: a write by one of these names changes a file that
// programs obey.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"

namespace hutch::host {

struct FilesBehind {
  std::vector<std::string> links;         // symbolic links, absolute: they can lead out of the directory
  std::vector<plan::LinkedFile> linked;  // regular files with more than one name
};

// In `directory` (canonical) and a few levels below it. A directory that cannot be listed has none.
Result<FilesBehind> files_behind(const std::string& directory);

// Whether a program looks for more in the directories that a protected one leads to. git and editors read the files.
bool obeys_directories(std::string_view directory);

// The regular file at `path`, if it has more than one name.
std::optional<plan::LinkedFile> linked_file(const std::string& path);

}  // namespace hutch::host
