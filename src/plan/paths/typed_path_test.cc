// Tests of the links and of PWD in plans of a directory that was reached through links.
#include <gtest/gtest.h>

#include <string>

#include "plan/make/make_plan.h"
#include "plan/make/world_testing.h"

namespace hutch::plan {
namespace {

using policy::Verb;

// The links that the plan makes, and PWD.
std::string typed_in(World& world) {
  const SandboxPlan plan = world.plan().value();
  std::string found;
  for (const MountStep& step : plan.mounts) {
    if (step.kind == MountKind::kSymlink && step.target != "/bin") found += step.target + " -> " + step.source + "; ";
  }
  for (const std::string& variable : plan.environment) {
    if (variable.starts_with("PWD=")) found += variable;
  }
  return found;
}

TEST(TypedPath, ItsLinksAreMadeInPlacesOfTheSandboxsOwn) {
  World world;
  world.workspace();
  EXPECT_EQ(typed_in(world), "");
  world.typed = {"/home/u/link", {{"/home/u/link", "p"}}};
  EXPECT_EQ(typed_in(world), "/home/u/link -> p; PWD=/home/u/link");
  world.typed = {"/home/u/.cache/x/link", {{"/home/u/.cache/x/link", "/home/u/p"}}};
  EXPECT_EQ(typed_in(world), "/home/u/.cache/x/link -> /home/u/p; PWD=/home/u/.cache/x/link");
  world.typed = {"/tmp/link", {{"/tmp/link", "/home/u/second"}, {"/home/u/second", "p"}}};
  EXPECT_EQ(typed_in(world), "/home/u/second -> p; /tmp/link -> /home/u/second; PWD=/tmp/link");
}

TEST(TypedPath, WhatTheHostShowsIsThereAlready) {
  World world;
  world.workspace();
  world.typed = {"/usr/link", {{"/usr/link", "/home/u/p"}}};
  EXPECT_EQ(typed_in(world), "PWD=/usr/link");
}

TEST(TypedPath, WhatRulesHideStaysHidden) {
  World world;
  world.workspace();
  world.directory("/home/u/closed");
  world.rule(Verb::kDenyRead, "/home/u/closed");
  world.typed = {"/home/u/closed/link", {{"/home/u/closed/link", "/home/u/p"}}};
  EXPECT_EQ(typed_in(world), "");
  world.typed = {"/root/link", {{"/root/link", "/home/u/p"}}};
  EXPECT_EQ(typed_in(world), "");
}

TEST(TypedPath, TheVariableCanBeSet) {
  World world;
  world.workspace();
  world.typed = {"/home/u/link", {{"/home/u/link", "p"}}};
  world.options = {"PWD=/usr"};
  EXPECT_EQ(typed_in(world), "/home/u/link -> p; PWD=/usr");
}

}  // namespace
}  // namespace hutch::plan
