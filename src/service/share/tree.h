// Walks a tree that somebody else may be changing meanwhile: by descriptors, one name at a time, no link followed.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sys/files/beneath.h"

namespace hutch::service {

// A share's path: its name in the directory above it, which no link leads to.
struct SharePlace {
  UniqueFd parent;
  std::string name;
  std::string path;
  sys::FileStatus status;
  std::int64_t born_ns = 0;
};

// A file or a directory on the walk, held by a descriptor of its own: as O_PATH where it cannot be opened.
struct TreeFile {
  int file;
  const std::string& path;  // for rules and messages: where it was found
  const sys::FileStatus& status;
};

struct WalkCounts {
  std::size_t elsewhere = 0;   // what is mounted there, or is another file system, left out
  std::vector<std::string> mounts{};  // of these, the places where something is mounted
  std::size_t unreadable = 0;  // directories whose names cannot be read, or what has them not be looked up
};

struct TreeVisitor {
  std::function<Status(const TreeFile&)> visit;
  std::function<Status(const TreeFile&)> closed;  // of each directory in which something cannot be seen
  enum class Of { kAll, kDirectories } of = Of::kAll;
};

// What is at `place` and, where that is a directory, all below it that is of its mount: each directory before its
// names are read. What is neither a file nor a directory is passed over, what goes away meanwhile too. Only an error
// of the visitor ends the walk early; and Code::kConflict where something else has the place's name by now, or a
// directory was moved.
Result<WalkCounts> walk_tree(const SharePlace& place, const TreeVisitor& visitor);

// Whether something is mounted there, be its server dead.
bool is_mounted(int parent, const std::string& name);

}  // namespace hutch::service
