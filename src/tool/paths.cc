// The sanitizer of paths.
#include "tool/paths.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/text.h"

namespace hutch::tool {

namespace {

std::string_view find_control_character(std::string_view path);
std::string absolute_of(const Layout& layout, std::string_view path);
const std::string* outermost_root(const Layout& layout, std::string_view absolute);
std::string outside_text(const Layout& layout);

std::unexpected<PathRefusal> refuse(PathReason reason, std::string text) {
  return std::unexpected(PathRefusal{reason, std::move(text)});
}

}  // namespace

std::expected<Located, PathRefusal> locate_path(const Layout& layout, std::string_view path) {
  if (path.empty()) return refuse(PathReason::kEmpty, "path is empty");
  for (const std::string_view component : split(path, '/')) {
    if (component == "..") {
      return refuse(PathReason::kTraversal, "path contains `..` (path traversal not allowed)");
    }
  }
  if (path.find('\0') != std::string_view::npos) return refuse(PathReason::kNullByte, "path contains a NUL byte");
  if (const std::string_view found = find_control_character(path); !found.empty()) {
    return refuse(PathReason::kDangerousCharacter,
                  cat({"path contains the disallowed character `", printable(found), "`"}));
  }
  std::string absolute = absolute_of(layout, path);
  const std::string* root = outermost_root(layout, absolute);
  if (root == nullptr) return refuse(PathReason::kOutsideRoots, outside_text(layout));
  const std::size_t skipped = *root == "/" ? 1 : root->size() + 1;
  std::string relative = absolute.size() > skipped ? absolute.substr(skipped) : ".";
  return Located{{*root, std::move(relative)}, std::move(absolute)};
}

std::string expected_path(const Layout& layout) {
  if (layout.base == layout.home) {
    return cat({"path under the agent home (relative or absolute under `", layout.home, "`)"});
  }
  return cat({"path under the project (relative or absolute under `", layout.base, "`), or absolute under `",
              layout.home, "`"});
}

namespace {

// C0, DEL, and C1 as UTF-8 writes it (U+0080 to U+009F: 0xc2 and one byte).
std::string_view find_control_character(std::string_view path) {
  for (std::size_t at = 0; at < path.size(); ++at) {
    const auto byte = static_cast<std::uint8_t>(path[at]);
    if (byte < 0x20 || byte == 0x7f) return path.substr(at, 1);
    if (byte != 0xc2 || at + 1 == path.size()) continue;
    const auto next = static_cast<std::uint8_t>(path[at + 1]);
    if (next >= 0x80 && next < 0xa0) return path.substr(at, 2);
  }
  return {};
}

// Without ".", empty components and a slash at the end.
std::string absolute_of(const Layout& layout, std::string_view path) {
  std::string whole(path);
  if (path == "~" || path.starts_with("~/")) {
    whole = cat({layout.home, path.substr(1)});
  } else if (!path.starts_with('/')) {
    whole = cat({layout.base, "/", path});
  }
  std::string out;
  for (const std::string_view component : split(whole, '/')) {
    if (component.empty() || component == ".") continue;
    out += '/';
    out += component;
  }
  return out.empty() ? "/" : out;
}

const std::string* outermost_root(const Layout& layout, std::string_view absolute) {
  const std::string* best = nullptr;
  for (const std::string& root : layout.roots) {
    if (!is_within(absolute, root)) continue;
    if (best == nullptr || root.size() < best->size()) best = &root;
  }
  return best;
}

std::string outside_text(const Layout& layout) {
  const std::string_view project = layout.base == layout.home ? "" : "the project, ";
  return cat({"absolute path is outside ", project, "the agent home and `", layout.shared, "`"});
}

}  // namespace

}  // namespace hutch::tool
