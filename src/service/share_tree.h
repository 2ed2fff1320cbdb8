// Walks a tree that somebody else may be changing meanwhile: by descriptors, one name at a time, no link followed.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/result.h"
#include "sys/beneath.h"

namespace hutch::service {

// A file or a directory on the walk. `name` is empty where `directory` is a descriptor of the file itself.
struct TreeFile {
  int directory;
  const std::string& name;
  const std::string& path;  // for rules and messages: where it was found
  const sys::FileStatus& status;
};

struct WalkCounts {
  std::size_t elsewhere = 0;   // what is mounted there, left out
  std::size_t unreadable = 0;  // directories that may not be listed
};

// `name` in `parent` and, where it is a directory, all below it that is of its mount: each directory before its
// names are read. What is neither a file nor a directory is passed over, what goes away meanwhile too. Only an error
// of `visit` ends the walk early.
Result<WalkCounts> walk_tree(int parent, const std::string& name, const std::string& path,
                             const std::function<Status(const TreeFile&)>& visit);

}  // namespace hutch::service
