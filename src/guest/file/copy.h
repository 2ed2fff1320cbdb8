// A copy of a file or a tree, for a move from one file system to another.
#pragma once

#include <string>

#include "base/result.h"
#include "guest/file/file_tree.h"

namespace hutch::guest {

// A name in a directory.
struct At {
  int directory = -1;
  std::string name;
};

// Regular files, directories and symbolic links, with their modes and times; anything else is refused. All or nothing
// is put at the new name, in place of what rename(2) would replace.
Status copy_tree(const At& from, const At& to, const GoOn& go_on);

}  // namespace hutch::guest
