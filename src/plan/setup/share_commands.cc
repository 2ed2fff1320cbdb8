// The commands of setfacl(1) and of macOS's chmod(1).
#include "plan/setup/share_commands.h"

#include "base/text.h"

namespace hutch::plan {

namespace {

std::vector<std::string> linux_commands(const ShareCommands& share) {
  const bool writes = share.mode == ShareMode::kReadWrite;
  const std::string grant = cat({"u:", share.user, writes ? ":rwX" : ":r-X"});
  const std::string path = shell_word(share.path);
  std::vector<std::string> commands;
  for (const std::string& directory : share.ancestors) {
    commands.push_back(cat({"setfacl -m u:", share.user, ":--x -- ", shell_word(directory)}));
  }
  commands.push_back(cat({"setfacl -R -m ", grant, " -- ", path}));
  const std::string both = writes && !share.owner.empty() ? cat({grant, ",u:", share.owner, ":rwX"}) : grant;
  commands.push_back(cat({"setfacl -R -d -m ", both, " -- ", path}));
  return commands;
}

// The words are those of chmod(1) of macOS, "ACL MANIPULATION OPTIONS".
std::vector<std::string> macos_commands(const ShareCommands& share) {
  std::string rights = "list,search,read,execute,readattr,readextattr,readsecurity";
  if (share.mode == ShareMode::kReadWrite) {
    rights += ",write,append,delete,add_file,add_subdirectory,delete_child,writeattr,writeextattr";
  }
  std::vector<std::string> commands;
  for (const std::string& directory : share.ancestors) {
    commands.push_back(cat({"chmod +a ", shell_word(cat({share.user, " allow search"})), " ", shell_word(directory)}));
  }
  const std::string entry = cat({share.user, " allow ", rights, ",file_inherit,directory_inherit"});
  commands.push_back(cat({"chmod -R +a ", shell_word(entry), " ", shell_word(share.path)}));
  return commands;
}

}  // namespace

std::vector<std::string> share_commands(const ShareCommands& share, Platform platform) {
  return platform == Platform::kMacos ? macos_commands(share) : linux_commands(share);
}

}  // namespace hutch::plan
