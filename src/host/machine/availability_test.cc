// Reason and remedy of each backend on machines of many kinds, as data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/machine/isolation_facts.h"

namespace hutch::host {
namespace {

using policy::BackendKind;

using testing::HasSubstr;

// An ordinary Debian desktop, seen by an ordinary user.
IsolationFacts debian() {
  IsolationFacts facts;
  facts.uid = 1000;
  facts.has_seccomp = true;
  facts.max_user_namespaces = 63000;
  facts.guest_program = "/usr/bin/hutch-guest";
  facts.bubblewrap = "/usr/bin/bwrap";
  facts.bubblewrap_version = "0.8.0";
  facts.has_qemu = true;
  facts.has_machine_files = true;
  facts.install_command = "sudo apt-get install";
  return facts;
}

void expect_missing(const plan::Availability& found, const char* reason, const char* remedy) {
  EXPECT_FALSE(found.available);
  EXPECT_THAT(found.reason, HasSubstr(reason));
  EXPECT_THAT(found.remedy, HasSubstr(remedy));
}

TEST(Availability, AllOnDebian) {
  for (const policy::BackendTraits& backend : policy::kBackends) {
    if (backend.kind == BackendKind::kUser) continue;
    const plan::Availability found = availability(backend.kind, debian());
    EXPECT_TRUE(found.available) << backend.name;
    EXPECT_EQ(found.reason + found.remedy, "") << backend.name;
  }
}

TEST(Availability, VmNeedsQemuAndItsFilesAndNamespaces) {
  IsolationFacts facts = debian();
  facts.max_user_namespaces = 0;
  expect_missing(availability(BackendKind::kVm, facts), "switched off", "sysctl");
  facts.has_machine_files = false;
  expect_missing(availability(BackendKind::kVm, facts), "no virtual machine is provisioned", "hutch vm provision");
  facts.has_qemu = false;
  expect_missing(availability(BackendKind::kVm, facts), "QEMU is not installed", "install qemu-system-x86");
}

TEST(Availability, ContainerNeedsAnEngine) {
  IsolationFacts facts = debian();
  facts.engine_failure = "no engine of containers listens at /run/x";
  facts.engine_remedy = "install one";
  expect_missing(availability(BackendKind::kContainer, facts), "no engine of containers listens", "install one");
}

TEST(Availability, UserNeedsInitAndRoot) {
  IsolationFacts facts = debian();
  facts.user = "carol";
  expect_missing(availability(BackendKind::kUser, facts), "root has not let you", "sudo hutch init --for carol");
  facts.has_os_user = true;
  EXPECT_TRUE(availability(BackendKind::kUser, facts).available);
  facts.has_os_user = false;
  facts.uid = 0;
  expect_missing(availability(BackendKind::kUser, facts), "no user hutch", "sudo hutch init");
  facts.has_os_user = true;
  expect_missing(availability(BackendKind::kUser, facts), "no CAP_SYS_ADMIN", "all capabilities");
  facts.container = "docker";
  expect_missing(availability(BackendKind::kUser, facts), "no CAP_SYS_ADMIN", "--cap-add SYS_ADMIN");
  facts.may_administer = true;
  facts.max_user_namespaces = 0;  // it makes none
  EXPECT_TRUE(availability(BackendKind::kUser, facts).available);
  facts.guest_program.clear();
  expect_missing(availability(BackendKind::kUser, facts), "hutch-guest", "install");
}

TEST(Availability, NoneNeedsNothing) { EXPECT_TRUE(availability(BackendKind::kNone, {}).available); }

TEST(Availability, SwitchedOffForAll) {
  IsolationFacts facts = debian();
  facts.max_user_namespaces = 0;
  facts.may_administer = true;  // root is held back by this one too
  for (const BackendKind backend : {BackendKind::kNamespace, BackendKind::kBwrap}) {
    expect_missing(availability(backend, facts), "user.max_user_namespaces is 0",
                   "sysctl -w user.max_user_namespaces=");
  }
  facts.is_in_sandbox = true;
  expect_missing(availability(BackendKind::kNamespace, facts), "a sandbox of hutch's", "outside");
  facts.max_user_namespaces = 63000;  // nobody has tried
  EXPECT_TRUE(availability(BackendKind::kNamespace, facts).available);
  facts.max_user_namespaces.reset();
  expect_missing(availability(BackendKind::kNamespace, facts), "no user namespaces", "CONFIG_USER_NS");
}

TEST(Availability, InASandboxNothingElseIsBlamed) {
  IsolationFacts facts = debian();
  facts.is_in_sandbox = true;
  facts.namespaces = Trial::kFails;
  facts.bubblewrap_trial = Trial::kFails;
  facts.apparmor_restriction = 1;
  facts.container = "docker";
  facts.has_os_user = false;
  for (const BackendKind backend : {BackendKind::kNamespace, BackendKind::kBwrap, BackendKind::kUser}) {
    expect_missing(availability(backend, facts), "a sandbox of hutch's", "outside");
  }
  facts.namespaces = Trial::kWorks;  // the root of a virtual machine may
  EXPECT_TRUE(availability(BackendKind::kNamespace, facts).available);
}

TEST(Availability, ForRootAlone) {
  IsolationFacts facts = debian();
  facts.unprivileged_namespaces = 0;
  for (const BackendKind backend : {BackendKind::kNamespace, BackendKind::kBwrap}) {
    expect_missing(availability(backend, facts), "unprivileged_userns_clone", "kernel.unprivileged_userns_clone=1");
  }
  facts.may_administer = true;
  EXPECT_TRUE(availability(BackendKind::kNamespace, facts).available);
}

TEST(Availability, UbuntusAppArmor) {
  IsolationFacts facts = debian();
  facts.apparmor_restriction = 1;
  const plan::Availability found = availability(BackendKind::kNamespace, facts);
  expect_missing(found, "AppArmor", "apparmor_parser -r /etc/apparmor.d/hutch");
  EXPECT_THAT(found.remedy, HasSubstr("/usr/bin/hutch-guest"));
  facts.has_apparmor_profile = true;
  EXPECT_TRUE(availability(BackendKind::kNamespace, facts).available);
  facts.namespaces = Trial::kFails;  // the profile is there and is not loaded, or is for another path
  expect_missing(availability(BackendKind::kNamespace, facts), "AppArmor", "apparmor_parser");
  facts.namespaces = Trial::kWorks;
  EXPECT_TRUE(availability(BackendKind::kNamespace, facts).available);
  facts.bubblewrap_trial = Trial::kFails;
  expect_missing(availability(BackendKind::kBwrap, facts), "AppArmor", "bwrap-userns-restrict");
}

TEST(Availability, InsideAContainer) {
  IsolationFacts facts = debian();
  facts.container = "docker";
  facts.is_filtered = true;
  for (const BackendKind backend : {BackendKind::kNamespace, BackendKind::kBwrap}) {
    expect_missing(availability(backend, facts), "container (docker)", "--security-opt seccomp=unconfined");
  }
  facts.namespaces = Trial::kFails;
  facts.namespaces_failure = "mount(/proc): Operation not permitted\x1b[2J";
  const plan::Availability found = availability(BackendKind::kNamespace, facts);
  expect_missing(found, "mount(/proc): Operation not permitted\\x1b", "systempaths=unconfined");
  facts.namespaces = Trial::kWorks;
  EXPECT_TRUE(availability(BackendKind::kNamespace, facts).available);
}

TEST(Availability, WhatCouldNotBeTriedIsNotTheMachinesFault) {
  IsolationFacts facts = debian();
  facts.container = "docker";
  facts.lacks_descriptors = true;
  facts.namespaces = Trial::kFails;
  facts.namespaces_failure = "pidfd_open(7): Too many open files";
  expect_missing(availability(BackendKind::kNamespace, facts), "too many files are open: pidfd_open(7)", "ulimit -n");
}

TEST(Availability, RefusedForAReasonOfItsOwn) {
  IsolationFacts facts = debian();
  facts.namespaces = Trial::kFails;
  facts.namespaces_failure = "unshare(): Operation not permitted";
  expect_missing(availability(BackendKind::kNamespace, facts), "unshare(): Operation not permitted", "dmesg");
}

TEST(Availability, Bubblewrap) {
  IsolationFacts facts = debian();
  facts.bubblewrap.clear();
  expect_missing(availability(BackendKind::kBwrap, facts), "not installed", "sudo apt-get install bubblewrap");
  facts = debian();
  for (const char* old : {"0.4.1", "0.7.99", "0.7"}) {
    facts.bubblewrap_version = old;
    expect_missing(availability(BackendKind::kBwrap, facts), "too old", "0.8.0 or newer");
  }
  for (const char* fine : {"0.8.0", "0.8.1", "0.11.0", "1.0", ""}) {
    facts.bubblewrap_version = fine;
    EXPECT_TRUE(availability(BackendKind::kBwrap, facts).available) << fine;
  }
}

TEST(Availability, WithoutTheGuestOrSeccomp) {
  IsolationFacts facts = debian();
  facts.guest_program.clear();
  expect_missing(availability(BackendKind::kNamespace, facts), "hutch-guest", "./dev build");
  expect_missing(availability(BackendKind::kBwrap, facts), "hutch-guest", "./dev build");
  facts = debian();
  facts.has_seccomp = false;
  expect_missing(availability(BackendKind::kNamespace, facts), "seccomp", "CONFIG_SECCOMP_FILTER");
}

TEST(IsolationFacts, OfThisMachine) {
  const IsolationFacts facts = probe_isolation(Effort::kLook);
  EXPECT_TRUE(facts.has_seccomp);
  EXPECT_EQ(facts.namespaces, Trial::kNotTried);
  EXPECT_EQ(find_system_program("no-such-program-here"), "");
  EXPECT_THAT(find_system_program("sh"), testing::EndsWith("/sh"));
  if (facts.bubblewrap.empty()) return;
  EXPECT_THAT(facts.bubblewrap_version, testing::ContainsRegex("^[0-9]+\\.[0-9]+"));
}

}  // namespace
}  // namespace hutch::host
