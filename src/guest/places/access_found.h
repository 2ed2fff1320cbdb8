// A caller's path, and the lookup results for it.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/unique_fd.h"
#include "guest/places/access_directories.h"
#include "sys/files/delegate.h"

namespace hutch::guest {

// A path as a caller passed it, relative to its current directory (AT_FDCWD) or to a directory that it has open.
struct CallerPath {
  pid_t caller = 0;
  int directory = 0;
  std::string text;
};

// A name in a directory of a supervised tree; the file need not exist.
struct Entry {
  Directories::Shared directory;
  std::string name;  // one component, with the slashes that the caller put behind it
  std::string path;  // canonical, below where its mount was planned: rules are about this path

  int at() const { return directory->copy.get(); }  // the directory in the writable copy
};

// A name whose directory may lie outside of every supervised tree: then there is no copy, and `path` is empty.
using NamedPlace = Entry;

// The directory of an entry of a supervised mount as the host has it, whose root may have been moved since the start.
struct Outside {
  int root = -1;          // O_PATH, of the mount's root, if that is the directory of the entry
  std::string root_path;  // the current path of the mount's root
  std::string path;       // and of the entry
  bool has_moved = false;
};

// An existing file in a supervised tree.
struct Object {
  Entry entry;      // without a name where the file has lost its name, or none was wanted
  UniqueFd handle;  // O_PATH, in the writable copy
  sys::Resolved what;
  UniqueFd seen{};  // O_PATH, on the sandbox's own mount; absent for a file that was handed over
};

// How much of a path exists.
struct Whereabouts {
  std::string path;         // canonical as far as it exists; the names that do not exist follow
  bool is_there = false;    // the whole path exists
  bool is_writable = true;  // by its mount, or by that of the deepest directory that exists
  bool has_parent = true;   // whether the directory of the last name exists
};

// The result of a lookup of a path.
struct Sight {
  UniqueFd there;        // O_PATH; absent: the path does not exist
  bool is_bare = false;  // nothing is there, and no host file can be hidden there
};

}  // namespace hutch::guest
