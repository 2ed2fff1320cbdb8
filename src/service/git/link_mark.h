// Marks ".git" files that a command made where no supervisor saw it.
#pragma once

#include <string>

namespace hutch::service {

// Writes the mark of plan::marked_git_link() into the file `link`, the ".git" of a linked worktree. Nothing happens if
// the file is no such text, or has the mark already. The directory is opened without following any link.
void mark_git_link(const std::string& link);

}  // namespace hutch::service
