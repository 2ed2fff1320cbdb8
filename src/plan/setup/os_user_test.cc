// The steps that make and remove agents' OS users.
#include "plan/setup/os_user.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"

namespace hutch::plan {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

std::vector<std::string> lines_of(const std::vector<SetupStep>& steps) {
  std::vector<std::string> lines;
  for (const SetupStep& step : steps) lines.push_back(join(step.command, " "));
  return lines;
}

// As whom a directory is made in a home that is not root's.
const std::string kAsUser = "setpriv --reuid hutch --regid hutch --init-groups --no-new-privs mkdir -p -m 0700 -- ";

TEST(OsUser, TheFirstTimeMakesEverything) {
  EXPECT_THAT(lines_of(init_steps("hutch", {})),
              ElementsAre("useradd --system --user-group --no-create-home --home-dir /var/lib/hutch/home --shell "
                          "/bin/../bin/bash --expiredate 1970-01-02 hutch",
                          "usermod --expiredate 1970-01-02 --shell /bin/../bin/bash hutch",
                          "install -d -m 0710 -o root -g hutch -- /var/lib/hutch",
                          "install -d -m 0700 -o hutch -g hutch -- /var/lib/hutch/home",
                          kAsUser + "/var/lib/hutch/home/workspaces", kAsUser + "/var/lib/hutch/home/.runtimes"));
}

TEST(OsUser, AnAgentsOwnUserIsInTheGroupOfAll) {
  const auto lines = lines_of(init_steps("agent-bob", {}));
  ASSERT_THAT(lines, SizeIs(13));
  EXPECT_EQ(lines[1],
            "useradd --system --user-group --no-create-home --home-dir /var/lib/hutch/users/agent-bob --shell "
            "/bin/../bin/bash --expiredate 1970-01-02 --groups hutch agent-bob");
  EXPECT_THAT(lines[2] + "\n" + lines[3],
              "usermod --expiredate 1970-01-02 --shell /bin/../bin/bash agent-bob\nusermod --expiredate 1970-01-02 "
              "--shell /bin/../bin/bash hutch");
  EXPECT_EQ(lines[7], "install -d -m 2770 -o root -g hutch -- /var/lib/hutch/users/shared");
  EXPECT_EQ(lines[8], "install -d -m 0700 -o agent-bob -g agent-bob -- /var/lib/hutch/users/agent-bob");
}

TEST(OsUser, RootMakesNothingWhereAUserMayPutALink) {
  for (const char* name : {"hutch", "agent-bob"}) {
    for (const SetupStep& step : init_steps(name, {.has_user = true, .has_common_user = true})) {
      const std::string& made = step.command.back();
      if (!made.starts_with("/")) continue;
      const bool in_a_home = made.starts_with(os_user_home(name) + "/") || made.starts_with("/var/lib/hutch/home/");
      EXPECT_EQ(step.command[0] == "install", !in_a_home) << made;
    }
  }
}

TEST(OsUser, TwiceMakesNoUser) {
  const auto steps = init_steps("agent-bob", {.has_user = true, .has_common_user = true});
  EXPECT_FALSE(make_a_user(steps));
  EXPECT_TRUE(make_a_user(init_steps("agent-bob", {.has_common_user = true})));
}

TEST(OsUser, RunsNothingLater) {
  const OsUserFacts before{
      .has_user = true, .has_common_user = true, .cron = DenyList::kAbsent, .at = DenyList::kLacksIt};
  const auto steps = init_steps("agent-bob", before);
  ASSERT_GE(steps.size(), 5U);
  EXPECT_EQ(lines_of(steps)[0], "usermod --expiredate 1970-01-02 --shell /bin/../bin/bash agent-bob")
      << "of one that was made before as well";
  EXPECT_THAT(steps[1].command, testing::Contains("hutch")) << "and of the common one";
  EXPECT_THAT(steps[2].command, ElementsAre("install", "-m", "0644", "/dev/null", "/etc/cron.deny"));
  EXPECT_THAT(steps[3].command,
              ElementsAre("sh", "-c", testing::HasSubstr("echo \"$0\" >> \"$1\""), "agent-bob", "/etc/cron.deny"));
  EXPECT_THAT(steps[4].command, ElementsAre("sh", "-c", testing::_, "agent-bob", "/etc/at.deny"));
  OsUserFacts after = before;
  after.cron = after.at = DenyList::kHasIt;
  EXPECT_EQ(init_steps("agent-bob", after)[2].command[0], "install");
  EXPECT_EQ(init_steps("agent-bob", after)[2].command[1], "-d");
  EXPECT_THAT(
      lines_of(deinit_steps("agent-bob", after, Homes::kKept)),
      ElementsAre("userdel agent-bob", "sed -i /^agent-bob$/d /etc/cron.deny", "sed -i /^agent-bob$/d /etc/at.deny"));
}

TEST(OsUser, ItsNumberIsWrittenDown) {
  const std::string write =
      "sh -c umask 022; [ -z \"$(tail -c 1 \"$1\" 2> /dev/null)\" ] || echo >> \"$1\"; echo \"$0\" >> \"$1\" 311 "
      "agent-bob /etc/hutch-helper/numbers";
  const OsUserFacts fresh{.has_common_user = true, .number = 311};
  const auto made = lines_of(init_steps("agent-bob", fresh));
  EXPECT_EQ(made[0],
            "useradd --system --user-group --no-create-home --home-dir /var/lib/hutch/users/agent-bob --shell "
            "/bin/../bin/bash --expiredate 1970-01-02 --uid 311 --groups hutch agent-bob");
  EXPECT_EQ(made[1], "install -d -m 0755 -o root -g root -- /etc/hutch-helper");
  EXPECT_EQ(made[2], write);
  OsUserFacts known{.has_user = true, .has_common_user = true, .number = 311, .number_is_written = true};
  EXPECT_THAT(lines_of(init_steps("agent-bob", known)), testing::Not(testing::Contains(write)));
  EXPECT_THAT(lines_of(deinit_steps("agent-bob", known, Homes::kKept)), ElementsAre("userdel agent-bob"));
  known.number_is_written = false;
  EXPECT_EQ(lines_of(init_steps("agent-bob", known))[1], write);
  EXPECT_EQ(lines_of(deinit_steps("agent-bob", known, Homes::kKept))[1], write);
}

TEST(OsUser, DeinitKeepsTheHomeUnlessTold) {
  const std::string home = os_user_home("agent-bob");
  const std::string output = os_user_output("agent-bob");
  const OsUserFacts all{
      .has_user = true, .places = {home, output}, .open_places = {home, output}, .has_common_user = true};
  EXPECT_THAT(lines_of(deinit_steps("agent-bob", all, Homes::kKept)),
              ElementsAre("userdel agent-bob", "install -d -m 0700 -o root -g root -- /var/lib/hutch/users/agent-bob",
                          "install -d -m 0700 -o root -g root -- /var/lib/hutch/users/output/agent-bob"));
  EXPECT_THAT(lines_of(deinit_steps("agent-bob", all, Homes::kRemoved)),
              ElementsAre("userdel agent-bob",
                          "rm -r -f --one-file-system -- /var/lib/hutch/users/agent-bob "
                          "/var/lib/hutch/users/output/agent-bob"));
  EXPECT_TRUE(deinit_steps("agent-bob", {}, Homes::kRemoved).empty());
}

TEST(OsUser, DeinitClosesWhatIsStillOpenWithoutTheUser) {
  const std::string home = os_user_home("agent-bob");
  const OsUserFacts stopped{.places = {home, os_user_output("agent-bob")}, .open_places = {home}};
  EXPECT_THAT(lines_of(deinit_steps("agent-bob", stopped, Homes::kKept)),
              ElementsAre("install -d -m 0700 -o root -g root -- /var/lib/hutch/users/agent-bob"));
}

TEST(OsUser, AllItsPlacesAreKnown) {
  EXPECT_THAT(os_user_places("hutch"), ElementsAre("/var/lib/hutch/home", "/var/lib/hutch-daemon-hutch"));
  EXPECT_THAT(os_user_places("hutch-carol"),
              ElementsAre("/var/lib/hutch-people/hutch-carol", "/var/lib/hutch-people/hutch-carol.output",
                          "/var/lib/hutch-people/hutch-carol.shared", "/var/lib/hutch-daemon-hutch-carol"));
}

TEST(OsUser, ADotInANameIsNoOtherLetter) {
  const OsUserFacts denied{.cron = DenyList::kHasIt};
  EXPECT_THAT(lines_of(deinit_steps("hutch-mary.ann", denied, Homes::kKept)),
              ElementsAre("sed -i /^hutch-mary[.]ann$/d /etc/cron.deny"));
}

}  // namespace
}  // namespace hutch::plan
