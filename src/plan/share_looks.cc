// Two looks at the same directories.
#include "plan/share_looks.h"

#include <algorithm>

namespace hutch::plan {

namespace {

constexpr std::int64_t kMoved = -1;

}  // namespace

void add_look(DirectoryLooks& looks, std::uint64_t device, std::uint64_t inode, const DirectoryLook& look) {
  const auto [place, is_new] = looks.try_emplace({device, inode}, look);
  if (!is_new) place->second.changed_ns = kMoved;
}

bool shows_changes(const DirectoryLook& look, std::int64_t now_ns) {
  const std::chrono::nanoseconds age{now_ns - look.changed_ns};
  return age >= kFileClockStep || age <= -kFileClockStep;
}

bool saw_all(const DirectoryLooks& first, const DirectoryLooks& second, Movers movers) {
  if (movers == Movers::kAll && first.size() != second.size()) return false;
  return std::ranges::all_of(first, [&](const auto& one) {
    const auto& [key, look] = one;
    if (movers == Movers::kAgents && !look.is_agents) return true;
    const auto other = second.find(key);
    return look.changed_ns != kMoved && other != second.end() && other->second.changed_ns == look.changed_ns;
  });
}

}  // namespace hutch::plan
