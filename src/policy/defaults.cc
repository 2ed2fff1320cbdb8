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

std::string_view default_policy_text() {
  return R"({
  "enabled": true,
  "filesystem": {
    "denyRead": ["/home", "/root", "/Users", "~"],
    "allowRead": ["."],
    "allowWrite": ["."],
    "denyWrite": []
  },
  "network": {
    "allowedDomains": [],
    "deniedDomains": []
  }
}
)";
}

std::span<const std::string_view> credential_paths() {
  static constexpr std::array<std::string_view, 15> kPaths = {
      ".pi/agent/auth.json",
      ".pi/agent/mcp-oauth",
      ".claude/.credentials.json",
      ".codex/auth.json",
      ".ssh",
      ".aws",
      ".config/gh",
      ".netrc",
      ".docker/config.json",
      ".gnupg",
      ".git-credentials",
      ".config/git/credentials",
      ".local/share/keyrings",
      ".local/share/kwalletd",
      ".password-store",
  };
  return kPaths;
}

std::span<const std::string_view> mandatory_git_names(GitConfig config) {
  // commondir says where hooks and config are taken from instead (gitrepository-layout(5)). config.worktree is read
  // like config once extensions.worktreeConfig is set (git-worktree(1)).
  static constexpr std::array<std::string_view, 4> kNames = {"hooks", "commondir", "config", "config.worktree"};
  const std::span<const std::string_view> names = kNames;
  return config == GitConfig::kProtected ? names : names.first(2);
}

}  // namespace hutch::policy
