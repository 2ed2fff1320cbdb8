// Looks for files of the host that programs refuse in a sandbox because of who seems to own them
// (plan/checked_files.h).
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
  std::vector<std::string> notes;  // a line where there are more than plan::kCheckedFilesMax, or larger ones
};

// Regular files of root's that this user may read. None for root, to whom they are root's inside as well, and none for
// a process whose capabilities read files beyond their permissions: its sandbox has no capability.
CheckedFiles look_at_checked_files(std::uint32_t uid);

}  // namespace hutch::host
