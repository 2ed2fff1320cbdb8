// Files that programs outside of the sandbox obey, by their names: the list, and the lookup of its names in a path.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace hutch::policy {

// kHeld: the sandbox may not write the file, because a program runs commands or loads settings from it. kTold: the file
// only instructs; the sandbox may write it, and hutch shows the change at the end.
enum class ObeyedTreatment : std::uint8_t { kHeld, kTold };

// kOutsidePackages: not below a node_modules directory. Packages contain such files, and no session starts there.
enum class ObeyedScope : std::uint8_t { kEverywhere, kOutsidePackages };

struct ObeyedFile {
  std::string_view name;  // relative to its directory; a directory means its tree; or "*.ext"
  ObeyedTreatment treatment = ObeyedTreatment::kHeld;
  ObeyedScope scope = ObeyedScope::kOutsidePackages;
  std::string_view reader;  // the program that obeys it
  std::string_view reason;  // what the program does with it: "runs its hooks"
  std::string_view source;  // where the program documents it: a manual page, or an address
};

// Raise this by one with each change of the list.
inline constexpr int kObeyedVersion = 2;

std::span<const ObeyedFile> obeyed_files();

// Positions in the list, ordered by the first components of the names. Names with a wildcard come first.
std::span<const std::uint16_t> obeyed_order();

// False for a component that no name of the list begins with, but for names with a wildcard. True for few others.
bool may_begin_obeyed(std::string_view component);

// Null: the name is not in the list.
const ObeyedFile* find_obeyed(std::string_view name);

// `path` is the path of the file, or the start of a longer path below it.
struct ObeyedAt {
  const ObeyedFile* file = nullptr;
  std::string_view path;
};

// The names of the list that the absolute path contains, outermost first. The time does not grow with the list.
std::vector<ObeyedAt> obeyed_at(std::string_view path);

// The names to look for below the directory `path`: for "x/.claude" those that begin with ".claude/".
struct ObeyedBelow {
  const ObeyedFile* file = nullptr;
  std::string_view above;  // the part of the name that is the end of the path
};
std::vector<ObeyedBelow> obeyed_below(std::string_view path);

// The names whose first component is, or matches, `component`.
std::vector<const ObeyedFile*> obeyed_from(std::string_view component);

// Whether the path lies below a node_modules directory, or is one.
bool is_in_packages(std::string_view path);

// Paths in a home that programs obey, besides the names above: relative to the home, each a file or a directory.
struct ObeyedInHome {
  std::string_view name;
  std::string_view reader;
  std::string_view reason;
  std::string_view source;
};
std::span<const ObeyedInHome> obeyed_in_home();

}  // namespace hutch::policy
