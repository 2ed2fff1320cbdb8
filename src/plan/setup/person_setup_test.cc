// The steps of hutch init --for and deinit --for.
#include "plan/setup/person_setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/text.h"

namespace hutch::plan {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> person_lines(const std::vector<SetupStep>& steps) {
  std::vector<std::string> lines;
  for (const SetupStep& step : steps) lines.push_back(join(step.command, " "));
  return lines;
}

PersonFacts carol(HelperStarter starter) {
  return {.person = "carol",
          .uid = 1007,
          .user = {},
          .helper = "/usr/lib/hutch/hutch-helper",
          .hutch = "/usr/bin/hutch",
          .starter = starter};
}

std::string file_text(const std::string& path) {
  std::ifstream file(std::string(HUTCH_SOURCE_DIR) + "/" + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(PersonSetup, BySystemd) {
  const auto lines = person_lines(init_person_steps("hutch-carol", carol(HelperStarter::kSystemd)));
  EXPECT_THAT(lines[3], HasSubstr("/etc/hutch-helper/people/1007/hutch-carol leaving carol\n"));
  EXPECT_EQ(lines[4],
            "useradd --system --user-group --no-create-home --home-dir /var/lib/hutch-people/hutch-carol --shell "
            "/bin/../bin/bash --expiredate 1970-01-02 hutch-carol");
  EXPECT_EQ(lines[5], "usermod --expiredate 1970-01-02 --shell /bin/../bin/bash hutch-carol");
  EXPECT_THAT(lines, Contains("install -d -m 0700 -o hutch-carol -g hutch-carol -- /var/lib/hutch-people/hutch-carol"));
  EXPECT_THAT(lines, Contains(HasSubstr("/etc/hutch-helper/people/1007/hutch-carol carol\n")));
  EXPECT_THAT(lines, Contains(HasSubstr("ExecStart=/usr/lib/hutch/hutch-helper\n")));
  EXPECT_EQ(lines.back(), "systemctl enable --now hutch-helper.socket");
  EXPECT_THAT(lines, Not(Contains(HasSubstr("sudoers"))));
}

TEST(PersonSetup, BySudoThatPersonAloneMayRunTheHelperWithoutArguments) {
  const auto steps = init_person_steps("hutch-carol", carol(HelperStarter::kSudo));
  EXPECT_THAT(steps.back().command[3], "/etc/sudoers.d/hutch-helper-1007");
  EXPECT_THAT(steps.back().command[4], HasSubstr("#1007 ALL=(root) NOPASSWD: /usr/lib/hutch/hutch-helper \"\"\n"));
  EXPECT_THAT(person_lines(steps), Not(Contains(HasSubstr("systemctl"))));
}

TEST(PersonSetup, TheUnitsAreThoseOfThePackage) {
  EXPECT_EQ(file_text("packaging/systemd/hutch-helper.socket"), helper_socket_unit());
  EXPECT_EQ(file_text("packaging/systemd/hutch-helper@.service"), helper_service_unit("/usr/lib/hutch/hutch-helper"));
}

TEST(PersonSetup, DeinitLeavesWhatOthersNeed) {
  PersonFacts facts = carol(HelperStarter::kSystemd);
  facts.user.has_user = facts.has_entry = facts.has_directory = facts.has_rule = facts.has_units = true;
  facts.has_other_users = true;
  auto lines = person_lines(deinit_person_steps("hutch-carol", facts, Homes::kKept));
  EXPECT_THAT(lines, testing::ElementsAre(HasSubstr("/etc/hutch-helper/people/1007/hutch-carol leaving carol\n"),
                                          "userdel hutch-carol", "rm -f -- /etc/hutch-helper/people/1007/hutch-carol"));
  facts.has_other_users = false;
  facts.has_other_people = true;
  lines = person_lines(deinit_person_steps("hutch-carol", facts, Homes::kKept));
  EXPECT_THAT(lines, Contains("rm -f -- /etc/sudoers.d/hutch-helper-1007"));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("systemctl"))));
  EXPECT_EQ(lines.back(), "rmdir --ignore-fail-on-non-empty -- /etc/hutch-helper/people/1007");
  facts.has_other_people = false;
  lines = person_lines(deinit_person_steps("hutch-carol", facts, Homes::kKept));
  EXPECT_THAT(lines, Contains("systemctl disable --now hutch-helper.socket"));
}

TEST(PersonSetup, DeinitGoesOnWithWhatIsLeft) {
  PersonFacts facts = carol(HelperStarter::kSystemd);
  EXPECT_TRUE(deinit_person_steps("hutch-carol", facts, Homes::kKept).empty());
  facts.has_directory = facts.has_units = true;
  const auto lines = person_lines(deinit_person_steps("hutch-carol", facts, Homes::kKept));
  EXPECT_EQ(lines.front(), "systemctl disable --now hutch-helper.socket");
  EXPECT_EQ(lines.back(), "rmdir --ignore-fail-on-non-empty -- /etc/hutch-helper/people/1007");
}

TEST(PersonSetup, OneForAllAgentsLetsThePersonHaveUsersForSingleOnes) {
  const std::string grant = "/etc/hutch-helper/agents/1007 carol\n/usr/bin/hutch\n";
  PersonFacts facts = carol(HelperStarter::kSystemd);
  EXPECT_THAT(person_lines(init_person_steps("hutch-carol", facts)), Contains(HasSubstr(grant)));
  const std::string bob = os_user_name_of("carol", "bob");
  EXPECT_THAT(person_lines(init_person_steps(bob, facts)), Not(Contains(HasSubstr("/etc/hutch-helper/agents"))));
  facts.has_grant = facts.has_entry = true;
  EXPECT_EQ(person_lines(deinit_person_steps("hutch-carol", facts, Homes::kKept)).front(),
            "rm -f -- /etc/hutch-helper/agents/1007");
  EXPECT_THAT(person_lines(deinit_person_steps(bob, facts, Homes::kKept)), Not(Contains(HasSubstr("/agents/"))));
}

TEST(PersonSetup, WhatIsThereIsNotTakenFromThePersonMeanwhile) {
  PersonFacts facts = carol(HelperStarter::kSystemd);
  facts.has_entry = facts.user.has_user = true;
  EXPECT_THAT(person_lines(init_person_steps("hutch-carol", facts)), Not(Contains(HasSubstr("leaving"))));
}

TEST(PersonSetup, RootMakesNothingWhereAUserMayPutALink) {
  for (const SetupStep& step : init_person_steps("hutch-carol", carol(HelperStarter::kSystemd))) {
    const bool in_home = step.command.back().starts_with("/var/lib/hutch-people/hutch-carol/");
    EXPECT_EQ(step.command[0] == "setpriv", in_home) << join(step.command, " ");
  }
}

TEST(OsUserNames, AreShortAndTellAgentsApart) {
  EXPECT_EQ(os_user_name("bob"), "agent-bob");
  const std::string lengthy = os_user_name("a-name-that-is-longer-than-it-may-be");
  EXPECT_EQ(lengthy.size(), kOsUserNameMax);
  EXPECT_TRUE(lengthy.starts_with("agent-a-name-that-is-lo"));
  EXPECT_EQ(lengthy, os_user_name("a-name-that-is-longer-than-it-may-be"));
  EXPECT_NE(lengthy, os_user_name("a-name-that-is-longer-than-it-may-bf"));
  EXPECT_EQ(os_user_name_of("carol", ""), "hutch-carol");
  EXPECT_NE(os_user_name_of("a-b", "c"), os_user_name_of("a", "b-c"));
  EXPECT_LE(os_user_name_of(std::string(64, 'p'), "").size(), kOsUserNameMax);
  EXPECT_LE(os_user_name_of("carol", "a-name-that-is-longer-than-it-may-be").size(), kOsUserNameMax);
}

}  // namespace
}  // namespace hutch::plan
