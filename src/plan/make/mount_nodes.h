// The paths that rules name, in the order in which hutch plans their mounts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/facts.h"
#include "plan/make/make_plan.h"
#include "policy/decide.h"

namespace hutch::plan {

// The mode of a private directory.
inline constexpr unsigned kPrivateMode = 0700;

// Whether a node is bound on itself although its view does not change, so that nobody can rename or remove it.
enum class Pin { kNo, kYes };

struct Node {
  std::string path;
  policy::View view = policy::View::kReadOnly;
  bool is_place = false;  // the deciding read rule is about this very path
  FileType type = FileType::kAbsent;
  Pin pin = Pin::kNo;
  bool of_image = false;  // not the host's: with an image, only paths that a rule names are the host's
  std::vector<const Node*> children;
};

// "/" sorts before every other byte, so that the contents of a directory follow it directly.
struct PathOrder {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const;
};

std::vector<const policy::Rule*> in_path_order(const std::vector<policy::Rule>& rules);

// Whether a supervisor holds the path of the rule, and no mount does: git outside replaces such files, and the sandbox
// would end with the mount.
bool is_held_by_name(const policy::Rule& rule, Supervision supervision);

std::string_view parent_of(std::string_view path);

// Whether a share lies below this name in "/".
bool is_of_shares(const std::vector<Share>& shares, const std::string& name);

// Whether the sandbox has a private directory or file system at the path, whatever its image.
bool is_own_place(std::string_view path);

// A sandbox sees one of these at the path of a file: nothing, a file in a private directory, or the host's file.
enum class Shown { kNothing, kPrivate, kHosts };
Shown shown_at(const PlanInput& input, const std::string& target);

// Adds the lines of a user and of a group. They become the first lines: where several names have one number, the first
// of them counts (getpwuid(3)).
void add_account(std::vector<MountStep>& steps, const std::string& name, std::uint32_t user, std::uint32_t group,
                 const std::string& home);

// How many bytes of a tmpfs the files take, with a page for each name.
std::uint64_t bytes_of(const std::vector<CoveredFile>& files);

// The directory above the project that stays closed in a private home; empty if there is none. A user expects files
// beside a project to stay, so a write there fails instead of being lost. Directories that begin with a dot are for
// programs.
std::string closed_above(std::string_view project, std::string_view home);

}  // namespace hutch::plan
