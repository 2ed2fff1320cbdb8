// The known settings of git's configuration (git-config(1)), and how hutch treats each.
#pragma once

#include <span>
#include <string_view>

namespace hutch::policy {

// How hutch treats a setting in a configuration that a sandbox writes for its own repository.
enum class GitWrite {
  kPlain,       // names nothing; any value is harmless
  kUrl,         // a URL or a path, which may not choose a program as its transport
  kRemote,      // the name of a remote, or such a URL
  kWorkTree,    // core.worktree: only that of a submodule, within the repository that has it
  kModuleStep,  // submodule.NAME.update: everything but a command
  kHeld,        // names a program, a file or another configuration
};

// In a configuration that the user's git obeys: what hutch protects of the file or directory in the value.
enum class GitRead {
  kNothing,
  kFile,     // that file
  kProgram,  // each word of a command line that is a file
  kHooks,    // a directory of programs
  kConfig,   // a configuration, which hutch reads as well
};

// Names are in lower case; `key` "*" means each key of the section. Subsections are ignored.
struct GitSetting {
  std::string_view section;
  std::string_view key;
  GitWrite write = GitWrite::kHeld;
  GitRead read = GitRead::kNothing;
};

std::span<const GitSetting> git_settings();

// How hutch treats a setting; a setting that is not in the table is held, and names nothing. Both names are in lower
// case.
GitSetting git_setting(std::string_view section, std::string_view key);

}  // namespace hutch::policy
