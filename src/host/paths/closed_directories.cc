// Finds directories that root's sandboxes cannot enter, though root can.
#include "host/paths/closed_directories.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "base/text.h"
#include "sys/files/tree.h"

namespace hutch::host {

namespace {

using policy::Rule;
using policy::Verb;

class ClosedDirectories {
 public:
  // The first one on the way to `path`.
  std::optional<std::string> on_the_way_to(const std::string& path) {
    for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      std::string directory = path.substr(0, slash);
      if (is_closed(directory)) return directory;
    }
    return std::nullopt;
  }

 private:
  bool is_closed(const std::string& directory) {
    const auto known = known_.find(directory);
    if (known != known_.end()) return known->second;
    return known_.emplace(directory, cannot_be_searched(directory)).first->second;
  }

  static bool cannot_be_searched(const std::string& directory) {
    static constexpr unsigned kGroupSearches = 010;
    static constexpr unsigned kOthersSearch = 01;
    const auto found = sys::status_of(directory);
    if (!found || !*found || (*found)->kind != sys::EntryKind::kDirectory || (*found)->uid == 0) return false;
    return ((*found)->mode & ((*found)->gid == 0 ? kGroupSearches : kOthersSearch)) == 0;
  }

  std::map<std::string, bool> known_;
};

bool gives_way(const Rule& rule, const std::string& directory, const std::string& path) {
  const bool gives = rule.verb == Verb::kAllowRead || rule.verb == Verb::kAllowWrite || rule.verb == Verb::kPlace;
  return gives && is_within(rule.path, directory) && is_within(path, rule.path);
}

}  // namespace

Status raise_denies(std::vector<Rule>& rules, Looker& looker) {
  ClosedDirectories closed;
  for (Rule& rule : rules) {
    if (rule.verb != Verb::kDenyRead && rule.verb != Verb::kDenyWrite) continue;
    auto directory = closed.on_the_way_to(rule.path);
    const auto leads_there = [&](const Rule& other) { return gives_way(other, *directory, rule.path); };
    if (!directory || std::ranges::any_of(rules, leads_there)) continue;
    TRY(looker.look(*directory));
    rule.path = std::move(*directory);
  }
  return {};
}

}  // namespace hutch::host
