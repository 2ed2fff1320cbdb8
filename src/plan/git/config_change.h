// Which changes of a repository's configuration a sandbox may make, where the repository is not its own.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hutch::plan {

// A repository with some thousand branches has a long configuration.
inline constexpr std::size_t kGitConfigChangeBytesMax = 512 << 10;

// Compares two texts of git-config(1). Each setting that is new, changed or gone must be in a list of settings that
// name no program, no file, and no other place for what the user fetches and pushes already. Returns the first setting
// that must not change ("core.hookspath"), or kUnreadableGitConfig if one of the texts may mean different things.
// `beside` is another configuration that git reads for the same repository, and that stays as it is.
// extensions.worktreeConfig has git read config.worktree of each work tree too: it may be set if those are harmless.
enum class WorktreeConfigs { kUnknown, kHarmless };
std::optional<std::string> held_git_config_change(std::string_view before, std::string_view after,
                                                  std::string_view beside = {},
                                                  WorktreeConfigs of_worktrees = WorktreeConfigs::kUnknown);
inline constexpr std::string_view kWorktreeConfigSetting = "extensions.worktreeconfig";

// Whether hutch shows the user such a change: of who they are to git, of an address, or of the remote that a branch
// had.
bool is_told_git_config_change(std::string_view before, std::string_view after);

// Those changes, a line each: "+remote.up.url = https://host.example/r". A sandbox chooses the file's own lines, and
// could hide an address among others. Nothing if a text may mean different things.
std::optional<std::vector<std::string>> told_git_config_changes(std::string_view before, std::string_view after);

inline constexpr std::string_view kUnreadableGitConfig = "text that hutch cannot read for sure";

}  // namespace hutch::plan
