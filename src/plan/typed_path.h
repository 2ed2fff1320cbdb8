// A second name of the directory in which a command starts.
#pragma once

#include <string>
#include <vector>

namespace hutch::plan {

struct PathLink {
  std::string path;  // canonical but for its last component, the link
  std::string text;
};

// The path that a person typed, where it leads to the directory through symbolic links. Tools write it into files
// (CMakeCache.txt, virtual environments), so it has to work inside as well.
struct TypedPath {
  std::string path;  // empty: it is the canonical one
  std::vector<PathLink> links;  // all that are followed on the way
};

}  // namespace hutch::plan
