// The paths that rules name, in the order in which mounts are planned for them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/facts.h"
#include "plan/make_plan.h"
#include "policy/decide.h"

namespace hutch::plan {

// The mode of a private directory.
inline constexpr unsigned kPrivateMode = 0700;

// Whether a node is bound on itself although nothing changes there, so that it cannot be renamed or removed.
enum class Pin { kNo, kYes };

struct Node {
  std::string path;
  policy::View view = policy::View::kReadOnly;
  bool is_place = false;  // a place of the sandbox's own starts here
  FileType type = FileType::kAbsent;
  Pin pin = Pin::kNo;
  bool of_image = false;  // not the host's: with an image only what a rule names for itself is
  std::vector<const Node*> children;
};

// "/" sorts before every other byte, so that a directory is followed at once by what is in it.
struct PathOrder {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const;
};

std::vector<const policy::Rule*> in_path_order(const std::vector<policy::Rule>& rules);

std::string_view parent_of(std::string_view path);

// Whether a name of "/" is where a share lies.
bool is_of_shares(const std::vector<Share>& shares, const std::string& name);

// Whether the sandbox has a private directory or file system there, with any image.
bool is_own_place(std::string_view path);

// What a sandbox has at the path of a file: nothing, a place of its own, or the host's file.
enum class Shown { kNothing, kPrivate, kHosts };
Shown shown_at(const PlanInput& input, const std::string& target);

// How much of a tmpfs the files take, with a page for the names.
std::uint64_t bytes_of(const std::vector<CoveredFile>& files);

// The directory above the project that stays closed in a private home; empty if there is none. Files beside a project
// are meant to stay, so that a write fails instead of being lost. Directories that begin with a dot are for programs.
std::string closed_above(std::string_view project, std::string_view home);

}  // namespace hutch::plan
