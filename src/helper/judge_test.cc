// What hutch-helper makes of what it was asked.
#include "helper/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "plan/make/bridge_place.h"
#include "plan/trust.h"

namespace hutch::helper {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const host::OsUser kUser{.name = "hutch-carol", .uid = 990, .groups = {991, 992}, .home = "/var/lib/hutch-people/x"};

wire::HelperStart asked() {
  wire::HelperStart start;
  start.user = 990;
  start.seccomp.resize(3);
  return start;
}

Result<plan::SandboxPlan> judged(const wire::HelperStart& start, const host::OsUser& user = kUser) {
  return plan_for(start, user,
                  {.is_directory = [](std::string_view place) { return place != "/dev/mqueue"; },
                   .stores = {{"/etc/ssl/certs/ca-certificates.crt", plan::kBundleFile, {1, 2}},
                              {"/etc/ssl/certs/java/cacerts", plan::kJavaFile, {1, 3}}},
                   .guest_program = "/usr/lib/hutch/hutch-guest"});
}

TEST(HelperJudge, TheBridgeBringsTheHelpersOwnGuest) {
  wire::HelperStart start = asked();
  start.network = plan::NetworkKind::kGateway;
  const auto guests = [&] {
    std::vector<std::string> found;
    const auto plan = judged(start);
    for (const plan::MountStep& step : plan ? plan->mounts : std::vector<plan::MountStep>()) {
      if (step.kind == plan::MountKind::kBind) found.push_back(step.source + " at " + step.target);
    }
    return found;
  };
  EXPECT_THAT(guests(), ElementsAre());
  start.host_ports = {8080, plan::kBridgePort};
  EXPECT_THAT(guests(), ElementsAre("/usr/lib/hutch/hutch-guest at /tmp/.hutch/bin/hutch-host"));
}

TEST(HelperJudge, WhatRootDoesIsTheHelpersOwn) {
  wire::HelperStart start = asked();
  start.tmp_bytes = 4096;
  const auto plan = judged(start);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->uid, 990U);
  EXPECT_EQ(plan->gid, 991U);
  EXPECT_THAT(plan->groups, ElementsAre(992));
  std::vector<std::string> targets;
  for (const plan::MountStep& step : plan->mounts) {
    targets.push_back(step.target);
    EXPECT_TRUE(step.source.empty()) << "nothing of the machine is named by it";
    EXPECT_TRUE(step.kind == plan::MountKind::kProc || step.size_bytes == 4096);
  }
  EXPECT_THAT(targets, ElementsAre("/proc", "/tmp", "/dev/shm"));
  EXPECT_THAT(plan->read_only_proc, ElementsAre("sys"));
  EXPECT_EQ(plan->rights, plan::Rights::kNone);
  EXPECT_EQ(plan->supervisor, plan::Supervisor::kNone);
}

TEST(HelperJudge, PortsAndAddressesArePassedOnWithoutNames) {
  wire::HelperStart start = asked();
  start.network = plan::NetworkKind::kGateway;
  start.host_ports = {5432};
  start.udp = {{.host = "ntp.example", .port = 123, .gateway_port = 900, .addresses = {IpAddress::v4(203, 0, 113, 1)}}};
  const auto plan = judged(start);
  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->host_ports, ElementsAre(5432));
  ASSERT_EQ(plan->udp.size(), 1U);
  EXPECT_TRUE(plan->udp[0].host.empty());
  EXPECT_EQ(plan->udp[0].addresses.size(), 1U);
}

TEST(HelperJudge, CertificatesLieOverTheMachinesStoresAndNowhereElse) {
  wire::HelperStart start = asked();
  start.authority = "one";
  start.bundle = "all";
  auto plan = judged(start);
  ASSERT_TRUE(plan);
  std::vector<std::string> covered;
  for (const plan::MountStep& step : plan->mounts) {
    if (step.kind == plan::MountKind::kCover) covered.push_back(step.target);
    EXPECT_TRUE(step.kind != plan::MountKind::kFile || step.target.starts_with("/tmp/.hutch/")) << step.target;
  }
  EXPECT_THAT(covered, ElementsAre("/etc/ssl/certs/ca-certificates.crt"));
  start.authority.clear();
  EXPECT_FALSE(judged(start));
  start.authority = "one";
  start.bundle.assign((4 << 20) + 1, 'x');
  EXPECT_FALSE(judged(start));
}

TEST(HelperJudge, NobodyBecomesRoot) {
  host::OsUser root = kUser;
  root.uid = 0;
  EXPECT_FALSE(judged(asked(), root));
  host::OsUser in_group = kUser;
  in_group.groups = {991, 0};
  EXPECT_FALSE(judged(asked(), in_group));
  host::OsUser without = kUser;
  without.groups.clear();
  EXPECT_FALSE(judged(asked(), without));
}

TEST(HelperJudge, EveryListHasABound) {
  using Change = std::function<void(wire::HelperStart&)>;
  const auto gateway = [](Change more) {
    return [more = std::move(more)](wire::HelperStart& start) {
      start.network = plan::NetworkKind::kGateway;
      more(start);
    };
  };
  const plan::UdpCapture fine{.host = "", .port = 123, .gateway_port = 900, .addresses = {}};
  const std::vector<std::pair<Change, std::string>> cases = {
      {[](auto& start) { start.version += 1; }, "different versions"},
      {[](auto& start) { start.seccomp.clear(); }, "no filter"},
      {[](auto& start) { start.seccomp.resize(4097); }, "no filter"},
      {[](auto& start) { start.host_ports = {80}; }, "without a gateway"},
      {[&](auto& start) { start.udp = {fine}; }, "without a gateway"},
      {gateway([](auto& start) { start.host_ports.assign(257, 80); }), "too many ports"},
      {gateway([](auto& start) { start.host_ports = {80, 0}; }), "a port that is 0"},
      {gateway([&](auto& start) { start.udp.assign(65, fine); }), "too many ports"},
      {gateway([&](auto& start) { (start.udp = {fine})[0].port = 0; }), "none of the gateway's"},
      {gateway([&](auto& start) { (start.udp = {fine})[0].gateway_port = 22; }), "none of the gateway's"},
      {gateway([&](auto& start) { (start.udp = {fine})[0].gateway_port = 1023; }), "none of the gateway's"},
      {gateway([&](auto& start) { (start.udp = {fine})[0].addresses.resize(65); }), "too many addresses"},
  };
  for (const auto& [change, why] : cases) {
    wire::HelperStart start = asked();
    change(start);
    const auto plan = judged(start);
    ASSERT_FALSE(plan) << why;
    EXPECT_THAT(plan.error().message, HasSubstr(why));
  }
}

TEST(HelperJudge, AnAgentsNameIsAPlainWord) {
  for (const char* name : {"a", "bob", "a-1", "abcdefghijklmnopqrstuvwx"}) {
    EXPECT_TRUE(check_wish({.agent = name})) << name;
  }
  for (const std::string& name :
       {std::string(), std::string("-a"), std::string("--for"), std::string("1a"), std::string("A"), std::string("a b"),
        std::string("a/b"), std::string("../a"), std::string("a\nb"), std::string("a\0b", 3), std::string("a;id"),
        std::string("abcdefghijklmnopqrstuvwxy"), std::string("\xc3\xa4")}) {
    EXPECT_FALSE(check_wish({.agent = name})) << name;
  }
  EXPECT_FALSE(check_wish({.version = wire::kVersion + 1, .agent = "bob"}));
}

}  // namespace
}  // namespace hutch::helper
