// System files that a program reads only if root or its own user owns them. A sandbox maps only one user, so root's
// files seem to belong to nobody (user_namespaces(7)), and the program refuses them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hutch::plan {

// One configuration that includes others. The program checks the included files.
struct CheckedConfig {
  std::string_view path;
  std::string_view directory;  // for includes with relative paths
  std::string_view program;
};

// ssh: read_config_file_depth() of readconf.c checks the included files (SSHCONF_CHECKPERM), but not the system's file
// itself. Other programs check files that belong to the user: gpg and ssh those in the home, postgres its data and its
// key. sudo, crontab and at are set-user-ID programs, which a sandbox does not have; zsh trusts who owns zsh.
inline constexpr std::array kCheckedConfigs = {CheckedConfig{"/etc/ssh/ssh_config", "/etc/ssh", "ssh"}};

// The prefix of the names of copies (CoveredFile).
inline constexpr std::string_view kCopyPrefix = "checked-";

inline constexpr std::size_t kCheckedBytesMax = 64 << 10;  // per file
inline constexpr std::size_t kCheckedFilesMax = 32;
inline constexpr std::size_t kIncludesMax = 64;  // per file

// The absolute paths and patterns that the text of a configuration includes. Those without a known directory, such as
// "~/x", are skipped.
std::vector<std::string> includes_of(const CheckedConfig& config, std::string_view text);

// Whether root owns the file and nobody else may write it: then the program would read it outside.
bool is_roots_alone(std::uint32_t owner, std::uint32_t mode);

}  // namespace hutch::plan
