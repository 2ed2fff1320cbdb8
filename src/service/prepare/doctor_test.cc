// The doctor's words on machines as data.
#include "service/prepare/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hutch::service {
namespace {

using testing::HasSubstr;

// An Ubuntu desktop whose AppArmor restricts user namespaces, without bubblewrap.
Checkup ubuntu() {
  Checkup checkup;
  checkup.facts.uid = 1000;
  checkup.facts.gid = 1000;
  checkup.facts.user = "ada";
  checkup.facts.home = "/home/ada";
  checkup.facts.kernel = "6.8.0-31-generic";
  checkup.facts.landlock_abi = 4;
  checkup.isolation.uid = 1000;
  checkup.isolation.has_seccomp = true;
  checkup.isolation.max_user_namespaces = 63000;
  checkup.isolation.apparmor_restriction = 1;
  checkup.isolation.guest_program = "/usr/bin/hutch-guest";
  checkup.isolation.install_command = "sudo apt-get install";
  checkup.cgroup.kind = plan::CgroupKind::kSystemdScope;
  checkup.cgroup.directories = {{"memory", "/m"}, {"pids", "/m"}};
  checkup.cgroup.note = "limits are held by a scope of the systemd user manager (memory, pids)";
  checkup.dirs = {"/home/ada/.config/hutch", "/home/ada/.local/share/hutch", "/run/user/1000/hutch"};
  return checkup;
}

TEST(Doctor, SaysReasonAndRemedy) {
  const std::string text = checkup_text(ubuntu());
  EXPECT_THAT(text, HasSubstr("  namespace  not available\n             why: AppArmor"));
  EXPECT_THAT(text, HasSubstr("try: sed 's|@GUEST@|/usr/bin/hutch-guest|'"));
  EXPECT_THAT(text, HasSubstr("why: bubblewrap is not installed\n             try: sudo apt-get install bubblewrap\n"));
  EXPECT_THAT(text, HasSubstr("  none       available; it isolates nothing\n"));
  EXPECT_THAT(text, HasSubstr("  limits     held by a scope of the systemd user manager (memory, pids)\n"));
  EXPECT_THAT(text, HasSubstr("  landlock   ABI 4\n"));
  EXPECT_THAT(text, HasSubstr("  policy     built-in, as there is no file for this directory\n"));
  EXPECT_THAT(text, HasSubstr("  record     /home/ada/.local/share/hutch\n"));
}

TEST(Doctor, SaysWhatWorks) {
  Checkup checkup = ubuntu();
  checkup.isolation.namespaces = host::Trial::kWorks;
  checkup.policy_files = {"/home/ada/.config/hutch/default.json"};
  const std::string text = checkup_text(checkup);
  EXPECT_THAT(text, HasSubstr("  namespace  available (the default)\n"));
  EXPECT_THAT(text, HasSubstr("  policy     /home/ada/.config/hutch/default.json\n"));
  checkup.policy_error = "default.json: unknown key";
  EXPECT_THAT(checkup_text(checkup), HasSubstr("policy     cannot be read: default.json: unknown key\n"));
  checkup.settings_file = "/home/ada/.config/hutch/config.json";
  EXPECT_THAT(checkup_text(checkup), HasSubstr("settings   /home/ada/.config/hutch/config.json\n"));
  checkup.settings_error = "config.json: not JSON";
  EXPECT_THAT(checkup_text(checkup), HasSubstr("settings   cannot be read: config.json: not JSON; no daemon starts"));
}

TEST(Doctor, IsJson) {
  const auto json = nlohmann::json::parse(checkup_json(ubuntu()));
  ASSERT_EQ(json["backends"].size(), policy::kBackends.size());
  EXPECT_EQ(json["backends"][0]["name"], "namespace");
  EXPECT_EQ(json["backends"][0]["available"], false);
  EXPECT_THAT(json["backends"][0]["remedy"].get<std::string>(), HasSubstr("apparmor_parser"));
  EXPECT_EQ(json["backends"][5]["available"], true);
  EXPECT_TRUE(json["backends"][5]["reason"].is_null());
  EXPECT_EQ(json["limits"]["held_by"], "systemd scope");
  EXPECT_EQ(json["limits"]["controllers"]["memory"], "/m");
  EXPECT_TRUE(json["bubblewrap"]["path"].is_null());
  EXPECT_EQ(json["landlock_abi"], 4);
}

TEST(Doctor, SaysWhichEngineThereIs) {
  Checkup checkup = ubuntu();
  checkup.engine = {"/run/x.sock", "docker", "20.10.24", "1.41", "overlay2", "cgroupfs", ""};
  EXPECT_THAT(checkup_text(checkup), HasSubstr("  engine     docker 20.10.24 at /run/x.sock (API 1.41, storage "
                                               "overlay2, cgroups by cgroupfs)\n"));
  EXPECT_EQ(nlohmann::json::parse(checkup_json(checkup))["engine"]["storage_driver"], "overlay2");
  checkup.engine = {};
  checkup.engine.error = "no engine of containers listens; install one";
  EXPECT_THAT(checkup_text(checkup), HasSubstr("  engine     none to use: no engine of containers listens; install"));
  EXPECT_TRUE(nlohmann::json::parse(checkup_json(checkup))["engine"]["name"].is_null());
}

TEST(Doctor, ShowsEveryNoteWhole) {
  // The note's first words, which the row's name says already, are left out, whatever the kind.
  for (const char* note : {"limits are held by rlimits, memory per process: no cgroup file system is mounted",
                           "limits are held by cgroup v1 (memory)", "limits are held by cgroup v2 (pids) below /x"}) {
    Checkup checkup = ubuntu();
    checkup.cgroup.note = note;
    EXPECT_THAT(checkup_text(checkup), HasSubstr(std::string("  limits     ") + (note + sizeof "limits are")));
  }
}

TEST(Doctor, LooksAtThisMachine) {
  const Result<Checkup> checkup = check_up();
  ASSERT_TRUE(checkup) << checkup.error().message;
  EXPECT_EQ(availabilities(*checkup).size(), policy::kBackends.size());
  EXPECT_TRUE(nlohmann::json::accept(checkup_json(*checkup)));
}

TEST(Doctor, LeavesErrorsThatAreNotTheMachines) {
  const Error error = explain_backend_failure(policy::BackendKind::kNone, Error::invalid("something else"));
  EXPECT_EQ(error.message, "something else");
}

}  // namespace
}  // namespace hutch::service
