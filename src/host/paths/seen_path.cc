// Where one path leads, on the host and as a sandbox sees it.
#include <utility>

#include "host/paths/looker.h"
#include "host/paths/paths.h"
#include "policy/decide.h"

namespace hutch::host {

Result<CanonicalPath> canonical_path(std::string_view path) {
  Looker looker;
  Resolved resolved = TRY(looker.resolve(path, FinalLink::kFollow));
  return CanonicalPath{std::move(resolved.path), resolved.type};
}

Result<PathSeen> path_as_seen(std::string_view path, const std::vector<policy::Rule>& rules,
                              const PathFilter& is_made) {
  Looker looker;
  const auto view_of = [&](std::string_view at) { return policy::decide(rules, policy::Access::kRead, at).view; };
  const Eyes eyes{.follows =
                      [&](std::string_view link) {
                        const policy::View view = view_of(link);
                        return view == policy::View::kReadOnly || view == policy::View::kReadWrite;
                      },
                  .leaves = [&](std::string_view at) { return view_of(at) != policy::View::kHidden || is_made(at); }};
  Resolved resolved = TRY(looker.resolve(path, FinalLink::kFollow, &eyes));
  return PathSeen{{std::move(resolved.path), resolved.type}, resolved.is_lost};
}

}  // namespace hutch::host
