// What a caller's path is, and what may be found of it.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/unique_fd.h"
#include "guest/access_directories.h"
#include "sys/delegate.h"

namespace hutch::guest {

// A path as a caller gave it: to its current directory (AT_FDCWD) or to a directory that it has open.
struct CallerPath {
  pid_t caller = 0;
  int directory = 0;
  std::string text;
};

// A name in a directory of a supervised tree, there or not.
struct Entry {
  Directories::Shared directory;
  std::string name;  // one component, with the slashes that the caller put behind it
  std::string path;  // canonical, below where its mount was planned: what rules are about

  int at() const { return directory->copy.get(); }  // the directory in the writable copy
};

// A name whose directory may be in no supervised tree: that one has no copy then, and `path` is empty.
using NamedPlace = Entry;

// Something that is there, in a supervised tree.
struct Object {
  Entry entry;      // without a name where it has none any more, or none was wanted
  UniqueFd handle;  // O_PATH, in the writable copy
  sys::Resolved what;
  UniqueFd seen{};  // likewise, by the sandbox's own mount; absent for what was handed over
};

// What is there of a path, and what is not.
struct Whereabouts {
  std::string path;         // canonical as far as it is there, then names
  bool is_there = false;    // all of it
  bool is_writable = true;  // by its mount, or that of the deepest directory that is there
  bool has_parent = true;   // whether the directory of the last name is there
};

// What somebody who looks finds.
struct Sight {
  UniqueFd there;        // O_PATH; absent: nothing
  bool is_bare = false;  // nothing is there, and nothing of the host's can be hidden there
};

}  // namespace hutch::guest
