// Whether a path from a tool's arguments names something that the agent's tools may touch, and where that is.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "tool/place.h"
#include "wire/files.h"

namespace hutch::tool {

// `place.root` is the outermost allowed root that holds it, so that a symbolic link may lead anywhere below that root
// and the kernel refuses what leads out (wire/files.h).
struct Located {
  wire::FilePlace place;
  std::string absolute;
};

enum class PathReason { kEmpty, kTraversal, kNullByte, kDangerousCharacter, kOutsideRoots };

struct PathRefusal {
  PathReason reason = PathReason::kEmpty;
  std::string text;  // "path is empty"
};

// Looks at the text alone, by whole components: a relative path begins at layout.base, "~" is the home. Nothing goes
// through a shell, so only control characters are dangerous: they would garble what is printed of the path.
std::expected<Located, PathRefusal> locate_path(const Layout& layout, std::string_view path);

// For `expected` of an envelope.
std::string expected_path(const Layout& layout);

}  // namespace hutch::tool
