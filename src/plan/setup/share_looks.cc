// Two looks at the same directories.
#include "plan/setup/share_looks.h"

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

std::optional<std::vector<std::string>> covered_by(std::span<const std::uint32_t> agents,
                                                   std::span<const std::string> met, std::span<const Cover> mounts) {
  std::vector<std::string> covered;
  for (const std::string& place : met) {
    if (std::ranges::find(mounts, place, &Cover::point) == mounts.end()) return std::nullopt;
    const auto is_agents = [&](const Cover& mount) {
      return mount.point == place && mount.user && std::ranges::find(agents, *mount.user) != agents.end();
    };
    if (std::ranges::any_of(mounts, is_agents)) covered.push_back(place);
  }
  return covered;
}

}  // namespace hutch::plan
