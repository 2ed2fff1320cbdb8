// Where the files of a repository of git are.
#pragma once

#include <string>

#include "plan/git_index.h"

namespace hutch::service {

// Of a repository's directory, or of a linked worktree's in it, by what its files say (gitrepository-layout(5)). Empty:
// they do not say it.
std::string git_work_tree(const std::string& directory);

// The repository's directory, of that of a linked worktree in it; else itself.
std::string git_common_directory(const std::string& directory);

// Of its objects: extensions.objectFormat of git-config(1), which the sandbox may not change.
plan::GitHash git_object_hash(const std::string& directory);

// Its configuration; empty where there is none to read.
std::string git_config_text(const std::string& directory);

}  // namespace hutch::service
