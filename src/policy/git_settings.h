// The settings of git's configuration (git-config(1)) that are known, and how each is treated.
#pragma once

#include <span>
#include <string_view>

namespace hutch::policy {

// In a configuration that a sandbox writes for a repository of its own.
enum class GitWrite {
  kPlain,       // names nothing; any value is harmless
  kUrl,         // a URL, or a path, which may choose no program as its transport
  kRemote,      // the name of a remote, or such a URL
  kWorkTree,    // core.worktree: only that of a submodule, within the repository that has it
  kModuleStep,  // submodule.NAME.update: all but a command
  kHeld,        // names a program, a file or another configuration
};

// In a configuration that the user's git obeys: what hutch protects of the file or directory that the value names.
enum class GitRead {
  kNothing,
  kFile,     // that file
  kProgram,  // each word of a command line that is a file
  kHooks,    // a directory of programs
  kConfig,   // a configuration, which is read as well
};

// Names are in lower case; `key` "*" stands for each key of the section, and a subsection is not looked at.
struct GitSetting {
  std::string_view section;
  std::string_view key;
  GitWrite write = GitWrite::kHeld;
  GitRead read = GitRead::kNothing;
};

std::span<const GitSetting> git_settings();

// How to treat one; a setting that is not in the table is held, and names nothing. Both names in lower case.
GitSetting git_setting(std::string_view section, std::string_view key);

}  // namespace hutch::policy
