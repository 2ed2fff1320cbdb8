// A share as commands of the system's own tools, for who wants to see or type them.
#pragma once

#include <string>
#include <vector>

#include "plan/setup/sharing.h"

namespace hutch::plan {

enum class Platform { kLinux, kMacos };

struct ShareCommands {
  std::string path;
  std::string user;
  std::string owner;  // whose files it are; empty for root, who needs no entry
  ShareMode mode = ShareMode::kReadOnly;
  std::vector<std::string> ancestors;  // that the user cannot pass through yet
};

// setfacl(1) on Linux, chmod(1) with +a on macOS. A line each, as a shell reads it.
std::vector<std::string> share_commands(const ShareCommands& share, Platform platform);

}  // namespace hutch::plan
