// A share as commands.
#include "plan/setup/share_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hutch::plan {
namespace {

using testing::ElementsAre;

const ShareCommands kShare{.path = "/home/ada/my app",
                           .user = "hutch",
                           .owner = "ada",
                           .mode = ShareMode::kReadWrite,
                           .ancestors = {"/home/ada"}};

TEST(ShareCommands, OfLinuxAreSetfacl) {
  EXPECT_THAT(share_commands(kShare, Platform::kLinux),
              ElementsAre("setfacl -m u:hutch:--x -- /home/ada", "setfacl -R -m u:hutch:rwX -- '/home/ada/my app'",
                          "setfacl -R -d -m u:hutch:rwX,u:ada:rwX -- '/home/ada/my app'"));
}

TEST(ShareCommands, ForReadingNeedNoEntryOfTheOwner) {
  ShareCommands share = kShare;
  share.mode = ShareMode::kReadOnly;
  share.ancestors.clear();
  EXPECT_THAT(share_commands(share, Platform::kLinux),
              ElementsAre("setfacl -R -m u:hutch:r-X -- '/home/ada/my app'",
                          "setfacl -R -d -m u:hutch:r-X -- '/home/ada/my app'"));
}

TEST(ShareCommands, OfMacosAreChmod) {
  EXPECT_THAT(share_commands(kShare, Platform::kMacos),
              ElementsAre("chmod +a 'hutch allow search' /home/ada",
                          "chmod -R +a 'hutch allow list,search,read,execute,readattr,readextattr,readsecurity,write,"
                          "append,delete,add_file,add_subdirectory,delete_child,writeattr,writeextattr,file_inherit,"
                          "directory_inherit' '/home/ada/my app'"));
}

}  // namespace
}  // namespace hutch::plan
