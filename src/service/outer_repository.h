// Says where a directory's repository is, if git cannot find it in the sandbox.
#pragma once

#include <optional>
#include <string>

#include "plan/facts.h"
#include "sandbox/outcome.h"
#include "service/prepare.h"

namespace hutch::service {

// A repository of the host that a directory belongs to, and what is needed of it (gitrepository-layout(5)).
struct OuterRepository {
  enum class Kind { kLinkedWorktree, kSubmodule, kPart } kind = Kind::kPart;
  std::string work_tree;  // the directory that holds ".git"
  std::string git;        // the directory that holds the objects
};

// That of `directory`, which is canonical and absolute; absent if its repository lies within it, or it has none. A
// ".git" file counts only if the repository says so too: otherwise the file could name any directory.
std::optional<OuterRepository> outer_repository(const std::string& directory);

// Why git found no repository in the command's directory, and what gives it one; absent if the sandbox has it.
std::optional<sandbox::Refusal> missing_repository(const Prepared& prepared, const plan::HostFacts& facts);

}  // namespace hutch::service
