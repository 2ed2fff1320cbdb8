// Where a copy may be, and the commands that make one.
#include "plan/setup/share_copy.h"

#include "base/limits.h"
#include "base/text.h"

namespace hutch::plan {

Result<std::string> copy_destination(std::string_view into) {
  const auto refused = [&](std::string_view why) {
    return fail(Error::invalid(cat({"--into ", printable(into), ": ", why})));
  };
  if (into.starts_with('/')) return refused("a path relative to the agent's home is wanted");
  if (into.size() > limits::kPathBytesMax) return refused("that is too long");
  std::string path;
  for (const std::string_view name : split(into, '/')) {
    if (name.empty() || name == ".") continue;
    if (name == "..") return refused("\"..\" is not followed");
    if (name.starts_with(kCopyTemporary)) return refused("such names are those of copies that are on their way");
    path += cat({path.empty() ? "" : "/", name});
  }
  if (path.empty()) return refused("the home itself is there already; name a directory in it");
  return path;
}

std::vector<std::string> copy_commands(const CopyCommands& copy, Platform platform) {
  const std::string as_user = cat({"sudo -u ", shell_word(copy.user), " "});
  const std::string target = cat({copy.home, "/", copy.into});
  const std::string place = shell_word(target);
  std::vector<std::string> commands;
  if (copy.into.find('/') != std::string::npos) {
    commands.push_back(cat({as_user, "mkdir -p -- ", shell_word(target.substr(0, target.rfind('/')))}));
  }
  if (copy.kind == CopyCommands::Kind::kFile) {
    // dd(1) refuses what is there already (conv=excl), and macOS's does not know that word.
    const std::string write = platform == Platform::kMacos ? cat({"tee -- ", place, " > /dev/null"})
                                                           : cat({"dd status=none conv=excl of=", place});
    commands.push_back(cat({as_user, write, " < ", shell_word(copy.source)}));
    return commands;
  }
  commands.push_back(cat({as_user, "mkdir -- ", place}));
  commands.push_back(cat({"tar --one-file-system -C ", shell_word(copy.source), " -cf - . | ", as_user, "tar -C ",
                          place, " -xf - --no-same-owner"}));
  return commands;
}

}  // namespace hutch::plan
