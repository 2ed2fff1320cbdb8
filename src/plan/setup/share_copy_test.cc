// Where a copy may be, and its commands.
#include "plan/setup/share_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace hutch::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(std::string_view into) {
  const auto path = copy_destination(into);
  return path ? cat({"allowed: ", *path}) : path.error().message;
}

TEST(CopyDestination, IsNamesBelowTheHome) {
  EXPECT_EQ(*copy_destination("workspaces/task-42/chrome-profile"), "workspaces/task-42/chrome-profile");
  EXPECT_EQ(*copy_destination("./a//b/"), "a/b");
  EXPECT_EQ(*copy_destination("..a/.b"), "..a/.b");
}

TEST(CopyDestination, LeadsNowhereElse) {
  EXPECT_THAT(error_of("/etc"), HasSubstr("relative to the agent's home"));
  for (const std::string_view into : {"..", "a/..", "a/../../b", "./.."}) {
    EXPECT_THAT(error_of(into), HasSubstr("\"..\" is not followed")) << into;
  }
  for (const std::string_view into : {"", ".", "./", "././."}) {
    EXPECT_THAT(error_of(into), HasSubstr("the home itself")) << into;
  }
  EXPECT_THAT(error_of("a/.hutch-copy-00"), HasSubstr("on their way"));
  EXPECT_THAT(error_of(std::string(5000, 'x')), HasSubstr("too long"));
}

const CopyCommands kProfile{.source = "/home/ada/my profile", .user = "hutch", .home = "/var/lib/h", .into = "w/p"};

// The same words for the tar of GNU and of BSD.
TEST(CopyCommands, OfADirectory) {
  const auto wanted = ElementsAre("sudo -u hutch mkdir -p -- /var/lib/h/w", "sudo -u hutch mkdir -- /var/lib/h/w/p",
                                  "tar --one-file-system -C '/home/ada/my profile' -cf - . | "
                                  "sudo -u hutch tar -C /var/lib/h/w/p -xf - --no-same-owner");
  EXPECT_THAT(copy_commands(kProfile, Platform::kLinux), wanted);
  EXPECT_THAT(copy_commands(kProfile, Platform::kMacos), wanted);
}

TEST(CopyCommands, OfAFile) {
  CopyCommands copy = kProfile;
  copy.kind = CopyCommands::Kind::kFile;
  copy.into = "key";
  EXPECT_THAT(copy_commands(copy, Platform::kLinux),
              ElementsAre("sudo -u hutch dd status=none conv=excl of=/var/lib/h/key < '/home/ada/my profile'"));
  EXPECT_THAT(copy_commands(copy, Platform::kMacos),
              ElementsAre("sudo -u hutch tee -- /var/lib/h/key > /dev/null < '/home/ada/my profile'"));
}

}  // namespace
}  // namespace hutch::plan
