// A tree that comes to a sandbox from the host, entry by entry: requests to the guest's file server.
#pragma once

#include <cstdint>
#include <string>

#include "wire/file_stat.h"

namespace hutch::wire {

// It is made beside all else in the root, and takes its place whole, at its end. What is there already is not replaced,
// and no symbolic link is followed. One at a time, of one server; what was not put is removed.
struct BeginTree {
  FilePlace place;  // of names alone; directories on the way are made when it is put
  std::string temporary;  // its name in the root until then
};

// A directory before what is in it. With the answer for a regular file comes a descriptor of it, open for writing: it
// has its mode and its time once the next entry is asked for.
struct AddToTree {
  std::string path;  // below the tree; empty: the tree itself, which comes first
  FileKind kind = FileKind::kRegular;
  std::uint32_t mode = 0;  // permission bits, without those that give rights
  std::int64_t modified_ns = 0;
  std::string target;  // of a symbolic link
};

struct EndTree {
  enum class Then { kDrop, kPut } then = Then::kDrop;
};

}  // namespace hutch::wire
