// Finds host files that programs refuse in a sandbox because of their apparent owner (plan/paths/checked_files.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hutch::host {

struct CheckedFile {
  std::string path;  // canonical
  std::string text;
};

struct CheckedFiles {
  std::vector<CheckedFile> files;
  std::vector<std::string> notes;  // a line if there are more than plan::kCheckedFilesMax, or larger ones
};

// Regular files of root's that this user may read. There are none for root, who owns them inside as well. There are
// none for a process whose capabilities override file permissions, because its sandbox has no capability.
CheckedFiles look_at_checked_files(std::uint32_t uid);

}  // namespace hutch::host
