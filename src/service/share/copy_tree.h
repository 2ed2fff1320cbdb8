// Copies a tree of one's own to an OS user, who makes the files and gets nothing of the sources but their content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "sandbox/run/files.h"

namespace hutch::service {

struct CopyCounts {
  std::size_t files = 0;  // regular ones
  std::size_t directories = 0;
  std::size_t links = 0;  // symbolic ones
  std::uint64_t bytes = 0;
  std::size_t cloned = 0;      // of the files: they have the sources' blocks
  std::size_t special = 0;     // sockets, pipes, devices: left out
  std::size_t elsewhere = 0;   // what is mounted there: left out
  std::size_t unreadable = 0;  // left out
};

struct CopyVoice {
  std::function<Status()> go_on;  // asked often: an error ends it
  std::function<void(const CopyCounts& so_far)> progress;
};

// `name` in the directory `parent`, a symbolic link not followed, becomes the tree that `to` has begun. Files are
// written here, to descriptors that are checked to be new and empty, and `owner`'s: a source is open in this process
// alone.
Result<CopyCounts> copy_tree(int parent, const std::string& name, sandbox::Files& to, std::uint32_t owner,
                             const CopyVoice& voice);

}  // namespace hutch::service
