// Finds the work tree, and the settings, of a repository of git.
#pragma once

#include <string>
#include <string_view>

#include "plan/git/index.h"

namespace hutch::service {

// The work tree of a repository's directory, or of a linked worktree's directory in it, from the files there
// (gitrepository-layout(5)). Empty if the files do not tell.
std::string git_work_tree(const std::string& directory);

// The repository's directory for a linked worktree's directory in it; any other directory is returned itself.
std::string git_common_directory(const std::string& directory);

// The hash of its object names: extensions.objectFormat of git-config(1), which the sandbox may not change.
plan::GitHash git_object_hash(const std::string& directory);

// The text of its configuration; empty if it cannot be read.
std::string git_config_text(const std::string& directory);

// `path` once what was at `from` is at `to`.
std::string path_after_move(const std::string& path, std::string_view from, std::string_view to);

}  // namespace hutch::service
