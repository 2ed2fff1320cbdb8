// Plans of agents in a virtual machine.
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/make/make_plan.h"
#include "policy/defaults.h"

namespace hutch::plan {
namespace {

Result<SandboxPlan> plan_with(std::vector<Share> shares, TlsOpening opening = TlsOpening::kNone) {
  HostFacts facts;
  facts.uid = facts.gid = 1000;
  facts.user = "agent-x";
  facts.home = facts.cwd = "/workspace/agents/x";
  const policy::Policy policy = policy::default_policy();
  const std::vector<policy::Rule> rules;
  const PathFacts paths;
  const OsUserInput os_user{.machine = OsUserInput::Machine::kVirtual};
  return make_plan({.policy = policy,
                    .rules = rules,
                    .facts = facts,
                    .paths = paths,
                    .project = facts.cwd,
                    .cwd = facts.cwd,
                    .trust = {.opening = opening, .stores = {"/of/this/machine"}, .java_stores = {}},
                    .shares = std::move(shares),
                    .os_user = &os_user,
                    .limits = {},
                    .caller_environment = {},
                    .environment = {}});
}

TEST(MachinePlan, AnAgentHasItsDirectoriesThere) {
  const auto planned = plan_with({{.source = "/data/x", .target = "/workspace/agents/x", .identity = {1, 5}},
                                  {.source = "/data/read", .target = "/read", .access = Access::kReadOnly}});
  ASSERT_TRUE(planned) << planned.error().message;
  const SandboxPlan& plan = *planned;
  const MountStep home = {.kind = MountKind::kBind,
                          .target = "/workspace/agents/x",
                          .source = "/data/x",
                          .access = Access::kReadWrite,
                          .make = MakeTarget::kDirectory,
                          .identity = {1, 5}};
  EXPECT_NE(std::ranges::find(plan.mounts, home), plan.mounts.end());
  const auto at = [&](std::string_view target) {
    const auto found = std::ranges::find(plan.mounts, target, &MountStep::target);
    return found == plan.mounts.end() ? MountStep() : *found;
  };
  EXPECT_EQ(at("/read").access, Access::kReadOnly);
  EXPECT_EQ(at("/workspace/agents").kind, MountKind::kDirectory);
  EXPECT_EQ(at("/etc/passwd").source, "agent-x:x:1000:1000::/workspace/agents/x:/bin/sh");
}

TEST(MachinePlan, ACommandAloneHasNone) {
  const std::vector<MountStep> alone = plan_with({})->mounts;
  EXPECT_EQ(std::ranges::find(alone, MountKind::kBind, &MountStep::kind), alone.end());
}

// Where this machine has them says nothing of where the image has.
TEST(MachinePlan, WhereTlsIsOpenedTheStoresThatSystemsHaveAreCoveredWhereTheyAreThere) {
  const auto planned = plan_with({}, TlsOpening::kSome);
  ASSERT_TRUE(planned) << planned.error().message;
  std::size_t covers = 0;
  for (const MountStep& step : planned->mounts) {
    if (step.kind != MountKind::kCover) continue;
    ++covers;
    EXPECT_EQ(step.identity, Identity()) << step.target;
    EXPECT_NE(step.target, "/of/this/machine");
    EXPECT_TRUE(step.source.starts_with("/tmp/.hutch/")) << step.source;
  }
  EXPECT_EQ(covers, kTrustStores.size() + kJavaStores.size());
  EXPECT_NE(std::ranges::find(planned->environment, "SSL_CERT_FILE=/tmp/.hutch/ca-bundle.pem"),
            planned->environment.end());
}

}  // namespace
}  // namespace hutch::plan
