// Finding what was seen at a path.
#include "plan/path_facts.h"

#include <algorithm>

namespace hutch::plan {

const SeenPath* PathFacts::find(std::string_view path) const {
  const auto at =
      std::ranges::lower_bound(seen, path, {}, [](const SeenPath& one) { return std::string_view(one.path); });
  return at != seen.end() && at->path == path ? &*at : nullptr;
}

}  // namespace hutch::plan
