// Whether somebody who goes through a tree saw all of it at once, though others may be moving things there.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hutch::plan {

struct DirectoryLook {
  std::int64_t changed_ns = 0;  // before its names were read
  bool is_agents = false;       // an agent may change what is in it
  bool operator==(const DirectoryLook&) const = default;
};
using DirectoryLooks = std::map<std::pair<std::uint64_t, std::uint64_t>, DirectoryLook>;  // by device and inode

// One that was seen on the way already was moved meanwhile: no later look is the same.
void add_look(DirectoryLooks& looks, std::uint64_t device, std::uint64_t inode, const DirectoryLook& look);

// The kernel's clock of files stands still for up to 10 ms: of two changes within that, the second does not show.
inline constexpr std::chrono::milliseconds kFileClockStep{20};
// Whether a later change of the directory shows in its time.
bool shows_changes(const DirectoryLook& look, std::int64_t now_ns);

// Whether nothing was put into or taken out of a directory between the looks: then there was a moment between them at
// which everything was as the first saw it. kAgents: what an agent may do alone counts.
enum class Movers { kAll, kAgents };
bool saw_all(const DirectoryLooks& first, const DirectoryLooks& second, Movers movers);

// Something that lies over a part of the tree.
struct Cover {
  std::string point{};
  std::optional<std::uint32_t> user{};  // who has mounted it, where that may be somebody else than root
};
// What of `met`, places where something was mounted, hides files that an agent may have kept: those that it has mounted
// something over itself. Nothing where one was there for a moment alone: what it hid was not seen.
std::optional<std::vector<std::string>> covered_by(std::span<const std::uint32_t> agents,
                                                   std::span<const std::string> met, std::span<const Cover> mounts);

}  // namespace hutch::plan
