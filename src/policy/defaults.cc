// The built-in policy and the mandatory write denies.
#include "policy/defaults.h"

#include <array>

namespace hutch::policy {

Policy default_policy() {
  Policy policy;
  policy.filesystem.deny_read = {{"/home"}, {"/root"}, {"/Users"}, {"~"}};
  policy.filesystem.allow_read = {{"."}};
  policy.filesystem.allow_write = {{"."}};
  return policy;
}

std::span<const std::string_view> mandatory_names() {
  static constexpr std::array<std::string_view, 13> kNames = {
      ".gitconfig", ".gitmodules", ".bashrc", ".bash_profile", ".zshrc",           ".zprofile",      ".profile",
      ".ripgreprc", ".mcp.json",   ".vscode", ".idea",         ".claude/commands", ".claude/agents",
  };
  return kNames;
}

std::span<const std::string_view> mandatory_git_names(GitConfig config) {
  // commondir says where hooks and config are taken from instead (gitrepository-layout(5)). config.worktree is read
  // like config once extensions.worktreeConfig is set (git-worktree(1)).
  static constexpr std::array<std::string_view, 4> kNames = {"hooks", "commondir", "config", "config.worktree"};
  const std::span<const std::string_view> names = kNames;
  return config == GitConfig::kProtected ? names : names.first(2);
}

}  // namespace hutch::policy
