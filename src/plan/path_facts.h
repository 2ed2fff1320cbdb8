// PathFacts: what was seen at the paths that rules are about; with HostFacts, all that a plan knows of the host.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/facts.h"

namespace hutch::plan {

struct SeenPath {
  std::string path;  // canonical but for its last component, which may be a link
  FileType type = FileType::kAbsent;
  Identity identity{};
  std::string link{};  // a symlink's text
};

struct PathFacts {
  std::vector<SeenPath> seen;  // sorted by path; a rule's path, and every directory above it
  const SeenPath* find(std::string_view path) const;
};

struct PathLink {
  std::string path;  // canonical but for its last component, the link
  std::string text;
};

// A directory's path as a person typed it, where it leads there through symbolic links. Tools write it into files
// (CMakeCache.txt, virtual environments), so it has to work in a sandbox as well.
struct TypedPath {
  std::string path{};  // empty: it is the canonical one
  std::vector<PathLink> links{};  // all that are followed on the way
};

}  // namespace hutch::plan
