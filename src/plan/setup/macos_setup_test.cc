// Golden tests of macOS's commands. No macOS is involved: that they work there is not tested.
#include "plan/setup/macos_setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace hutch::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> macos_lines(const std::vector<SetupStep>& steps) {
  std::vector<std::string> lines;
  for (const SetupStep& step : steps) {
    std::vector<std::string> words;
    std::ranges::transform(step.command, std::back_inserter(words), [](const auto& word) { return shell_word(word); });
    lines.push_back(join(words, " "));
  }
  return lines;
}

const std::string kOwnGroup = R"sh(dscl . -create "/Users/$0" PrimaryGroupID )sh"
                              R"sh("$(dscl . -read "/Groups/$0" PrimaryGroupID | cut -d ' ' -f 2)")sh";
const std::string kMakeGroup = "sh -c " + shell_word(kOwnGroup);

TEST(MacosSetup, TheFirstTimeMakesEverything) {
  EXPECT_THAT(
      macos_lines(macos_init_steps("hutch", {})),
      ElementsAre("sysadminctl -addUser _hutch -fullName 'hutch: hutch' -home /var/lib/hutch/home -shell "
                  "/bin/bash",
                  "dseditgroup -o create _hutch", kMakeGroup + " _hutch", "dseditgroup -o edit -d _hutch -t user staff",
                  "dscl . -create /Users/_hutch IsHidden 1", "install -d -m 0710 -o root -g _hutch -- /var/lib/hutch",
                  "install -d -m 0700 -o _hutch -g _hutch -- /var/lib/hutch/home",
                  "sudo -n -u _hutch mkdir -p -m 0700 -- /var/lib/hutch/home/workspaces",
                  "sudo -n -u _hutch mkdir -p -m 0700 -- /var/lib/hutch/home/.runtimes"));
}

TEST(MacosSetup, AnAgentsOwnUserPassesToItsHome) {
  const auto lines = macos_lines(macos_init_steps("agent-bob", {.has_common_user = true}));
  ASSERT_EQ(lines.size(), 15U);
  EXPECT_EQ(lines[0],
            "sysadminctl -addUser _agent-bob -fullName 'hutch: agent-bob' -home /var/lib/hutch/users/agent-bob -shell "
            "/bin/bash");
  EXPECT_EQ(lines[5], "dseditgroup -o edit -a _agent-bob -t user _hutch");
  EXPECT_EQ(lines[10], "install -d -m 0700 -o _agent-bob -g _agent-bob -- /var/lib/hutch/users/agent-bob");
}

TEST(MacosSetup, TwiceMakesNoUser) {
  for (const std::string& line : macos_lines(macos_init_steps("hutch", {.has_user = true, .has_common_user = true}))) {
    EXPECT_TRUE(line.starts_with("install ") || line.starts_with("sudo ")) << line;
  }
}

TEST(MacosSetup, DeinitKeepsTheHomeUnlessTold) {
  const OsUserFacts all{.has_user = true, .places = {"there"}, .has_common_user = true};
  EXPECT_THAT(macos_lines(macos_deinit_steps("hutch", all, Homes::kKept)),
              ElementsAre("sysadminctl -deleteUser _hutch -keepHome", "dseditgroup -o delete _hutch"));
  EXPECT_EQ(macos_lines(macos_deinit_steps("hutch", all, Homes::kRemoved)).back(),
            "rm -r -f -x -- /var/lib/hutch/home");
}

TEST(MacosSetup, RulesOfPf) {
  EXPECT_EQ(pf_rules({"hutch"}, {}),
            "# No network for agents' users outside of their sandboxes.\n"
            "block return out quick proto { tcp, udp } from any to any user _hutch\n");
  EXPECT_EQ(pf_rules({"hutch", "agent-bob"}, {5432, 80}),
            "# No network for agents' users outside of their sandboxes.\n"
            "pass out quick on lo0 proto tcp from any to any port { 5432, 80 } user _hutch\n"
            "block return out quick proto { tcp, udp } from any to any user _hutch\n"
            "pass out quick on lo0 proto tcp from any to any port { 5432, 80 } user _agent-bob\n"
            "block return out quick proto { tcp, udp } from any to any user _agent-bob\n");
}

TEST(MacosSetup, TheNetworkIsAnAnchorOfItsOwn) {
  const auto lines = macos_lines(macos_network_init_steps({"hutch"}, {}));
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_THAT(lines[1], HasSubstr("block return out quick"));
  EXPECT_EQ(lines[2], "pfctl -n -a com.apple/hutch -f /etc/hutch-helper/pf.conf");
  EXPECT_EQ(lines[3], "pfctl -E -a com.apple/hutch -f /etc/hutch-helper/pf.conf");
  EXPECT_THAT(lines[4], HasSubstr("<string>-E</string><string>-a</string><string>com.apple/hutch</string>"));
  EXPECT_EQ(lines[5], "launchctl bootstrap system /Library/LaunchDaemons/org.hutch.network.plist");
  EXPECT_THAT(macos_lines(macos_network_deinit_steps()),
              ElementsAre("launchctl bootout system/org.hutch.network",
                          "rm -f -- /Library/LaunchDaemons/org.hutch.network.plist /etc/hutch-helper/pf.conf",
                          "pfctl -a com.apple/hutch -F rules"));
}

}  // namespace
}  // namespace hutch::plan
