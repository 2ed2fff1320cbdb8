// A copy of somebody's files in the home of an agent's OS user: where it may be, and as commands of the system's tools.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/setup/share_commands.h"

namespace hutch::plan {

// What a copy is called in the home until it is whole; behind it come letters that nobody guesses.
inline constexpr std::string_view kCopyTemporary = ".hutch-copy-";

// "a//b/" is "a/b". Errors: an absolute path, "..", and what could be taken for a copy on its way.
Result<std::string> copy_destination(std::string_view into);

struct CopyCommands {
  std::string source;
  enum class Kind { kFile, kDirectory } kind = Kind::kDirectory;
  std::string user;
  std::string home;
  std::string into;  // as copy_destination gives it
};

// Whoever types them is root or may be that user by sudo(8): nothing of root's follows a path in the home.
std::vector<std::string> copy_commands(const CopyCommands& copy, Platform platform);

}  // namespace hutch::plan
