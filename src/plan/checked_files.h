// Files of the system that a program reads only where root or its own user owns them. With one user mapped, root's look
// like nobody's (user_namespaces(7)), and the program refuses them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hutch::plan {

// One configuration that includes others, which are the ones that are checked.
struct CheckedConfig {
  std::string_view path;
  std::string_view directory;  // of includes with relative paths
  std::string_view program;
};

// Of ssh: read_config_file_depth() of readconf.c checks what it includes (SSHCONF_CHECKPERM), not the system's file
// itself. Others check files that are the user's own: gpg and ssh those in the home, postgres its data and its key.
// sudo, crontab and at are set-user-ID programs, which a sandbox does not have; zsh trusts who owns zsh.
inline constexpr std::array kCheckedConfigs = {CheckedConfig{"/etc/ssh/ssh_config", "/etc/ssh", "ssh"}};

// How the names of copies begin (CoveredFile).
inline constexpr std::string_view kCopyPrefix = "checked-";

inline constexpr std::size_t kCheckedBytesMax = 64 << 10;  // of one file
inline constexpr std::size_t kCheckedFilesMax = 32;
inline constexpr std::size_t kIncludesMax = 64;  // of one file

// The absolute paths and patterns that the text of a configuration includes; those in no directory of their own that
// is known, as "~/x", are passed over.
std::vector<std::string> includes_of(const CheckedConfig& config, std::string_view text);

// Whether a file is root's and nobody else may write it: the program would read it outside.
bool is_roots_alone(std::uint32_t owner, std::uint32_t mode);

}  // namespace hutch::plan
