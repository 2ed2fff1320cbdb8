// Follows the links of typed paths.
#include "host/paths/typed_path.h"

#include <algorithm>
#include <climits>
#include <deque>

#include "base/text.h"
#include "policy/glob.h"
#include "sys/files/tree.h"
#include "sys/process/host_info.h"

namespace hutch::host {

namespace {

constexpr std::size_t kLinksMax = 40;  // path_resolution(7)

bool is_plain(std::string_view path) {
  if (!path.starts_with('/') || path.size() < 2 || path.size() >= PATH_MAX) return false;
  const auto names = split(path.substr(1), '/');
  return std::ranges::none_of(names, [](std::string_view name) { return name.empty() || name == "." || name == ".."; });
}

void put_first(std::deque<std::string>& names, std::string_view path) {
  const auto parts = split(path, '/');
  names.insert(names.begin(), parts.begin(), parts.end());
}

}  // namespace

plan::TypedPath typed_path(std::string_view typed, const std::string& directory) {
  if (typed == directory || !is_plain(typed)) return {};
  plan::TypedPath found{std::string(typed), {}};
  std::deque<std::string> names;
  put_first(names, typed);
  std::string at;
  while (!names.empty()) {
    const std::string name = std::move(names.front());
    names.pop_front();
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      at.resize(at.empty() ? 0 : at.rfind('/'));
      continue;
    }
    std::string path = cat({at, "/", name});
    const auto text = sys::tree_link_text(path);
    if (!text) {
      at = std::move(path);
      continue;
    }
    if (found.links.size() == kLinksMax) return {};
    if (text->starts_with('/')) at.clear();
    put_first(names, *text);
    found.links.push_back({std::move(path), *text});
  }
  return at == directory ? found : plan::TypedPath();
}

std::string settled_socket(const std::string& entry) {
  const std::size_t slash = entry.rfind('/');
  if (slash == 0 || slash == std::string::npos || policy::has_wildcard(entry)) return entry;
  const auto above = sys::canonical_path(policy::unescape(entry.substr(0, slash)));
  if (!above) return entry;
  return cat({*above == "/" ? "" : policy::escape_wildcards(*above), entry.substr(slash)});
}

}  // namespace hutch::host
