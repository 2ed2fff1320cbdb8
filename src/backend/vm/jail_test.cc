// The tests of what a machine is told to be.
#include "backend/vm/jail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace hutch::backend::vm {
namespace {

TEST(MachineSize, IsWhatTheLimitsMakeOfIt) {
  const MachineSize usual = machine_size({}).value();
  EXPECT_EQ(usual.memory_mib, 2048U);
  EXPECT_EQ(usual.cpus, 2U);
  plan::ResourceLimits limits;
  limits.memory_bytes = 512ULL << 20;
  limits.cpu_millis = 2'500;
  EXPECT_EQ(machine_size(limits)->memory_mib, 512U);
  EXPECT_EQ(machine_size(limits)->cpus, 3U);
  EXPECT_EQ(machine_size({}, {.cpus = 4, .memory_mib = 1024}).value(), (MachineSize{4, 1024}));
  EXPECT_EQ(machine_size(limits, {.cpus = 4, .memory_mib = 1024}).value(), (MachineSize{3, 512}));
  limits.cpu_millis = 100;
  EXPECT_EQ(machine_size(limits)->cpus, 1U);
  limits.cpu_millis = 64'000;
  EXPECT_EQ(machine_size(limits)->cpus, 8U);
  EXPECT_THAT(qemu_arguments(*machine_size(limits), Accelerator::kTcg, Boot::kFresh),
              testing::IsSupersetOf({"-smp", "8", "-m", "512M"}));
}

TEST(MachineSize, RefusesWhatNoMachineStartsIn) {
  plan::ResourceLimits limits;
  limits.memory_bytes = (256ULL << 20) - 1;
  EXPECT_FALSE(machine_size(limits));
  limits.memory_bytes = (256ULL << 30) + (1 << 20);
  EXPECT_FALSE(machine_size(limits));
  limits.memory_bytes = 256ULL << 20;
  EXPECT_TRUE(machine_size(limits));
}

TEST(FileServer, HasItsProgramAndTheDirectoriesAlone) {
  const std::vector<SharedDirectory> shares = {
      {.path = "/home/her/work", .access = plan::Access::kReadWrite, .identity = {7, 9}},
      {.path = "/srv/read", .access = plan::Access::kReadOnly}};
  const plan::SandboxPlan plan = file_server_plan(kFileServers.back(), shares, {}, 1234, 5678);
  std::vector<std::string> sources;
  for (const plan::MountStep& step : plan.mounts) {
    if (step.kind == plan::MountKind::kBind) sources.push_back(step.source);
  }
  EXPECT_THAT(sources, testing::ElementsAre("/usr", "/home/her/work", "/srv/read"));
  const auto served = [&](std::string_view target) {
    return *std::ranges::find(plan.mounts, target, &plan::MountStep::target);
  };
  EXPECT_EQ(served("/served/0").access, plan::Access::kReadWrite);
  EXPECT_EQ(served("/served/0").identity, (plan::Identity{7, 9})) << "another directory of that name is refused";
  EXPECT_EQ(served("/served/1").access, plan::Access::kReadOnly);
  EXPECT_THAT(plan.landlock.writable, testing::Contains("/served/0"));
  EXPECT_THAT(plan.landlock.writable, testing::Not(testing::Contains("/served/1")));
  EXPECT_EQ(plan.mounts.back().kind, plan::MountKind::kSeal);
  EXPECT_EQ(plan.ids.users, (std::vector<plan::IdExtent>{{1000, 1234, 1}})) << "nobody else is there";
  EXPECT_EQ(plan.ids.groups, (std::vector<plan::IdExtent>{{1000, 5678, 1}}));
  EXPECT_EQ(plan.rights, plan::Rights::kFileServer) << "to change its root";
  EXPECT_EQ(file_server_plan(kFileServers.front(), shares, {}, 1234, 5678).rights, plan::Rights::kNone);
  EXPECT_EQ(plan.network, plan::NetworkKind::kNone);
}

TEST(FileServer, HasNoRightsByTheWordsOfEach) {
  for (const FileServer& server : kFileServers) {
    const auto words = file_server_arguments(server);
    EXPECT_EQ(words.front(), server.program);
    std::string all;
    for (const std::string& word : words) all += word + " ";
    for (const std::string_view said : {"=/served", "cache=auto", "-chown:", ":-mknod:", "--fd=0 "}) {
      EXPECT_THAT(all, testing::HasSubstr(said)) << server.program;
    }
  }
}

TEST(Qemu, WaitsForWhatItIsGiven) {
  const auto fresh = qemu_arguments({}, Accelerator::kTcg, Boot::kFresh);
  const auto saved = qemu_arguments({}, Accelerator::kTcg, Boot::kSaved);
  EXPECT_THAT(fresh, testing::Contains("-S"));
  EXPECT_THAT(saved, testing::IsSupersetOf({"-incoming", "defer"}));
  // What is there from the beginning is the same, or nothing that was saved would fit.
  std::vector<std::string> rest = saved;
  rest.resize(rest.size() - 2);
  rest.push_back("-S");
  EXPECT_EQ(rest, fresh);
  EXPECT_THAT(fresh, testing::Not(testing::Contains(testing::HasSubstr("netdev"))));
  EXPECT_THAT(fresh, testing::Contains(testing::HasSubstr("pcie-root-port,id=port1,")));
}

TEST(Qemu, HasTheDeviceAndTheProcessorOfWhatAccelerates) {
  const auto devices = [](Accelerator accelerator) {
    const plan::SandboxPlan plan = jail_plan({}, {}, accelerator, 1234, 5678);
    return std::ranges::find(plan.mounts, plan::MountKind::kDevices, &plan::MountStep::kind)->source;
  };
  EXPECT_EQ(devices(Accelerator::kTcg), "");
  EXPECT_EQ(devices(Accelerator::kKvm), "kvm");
  for (const Boot boot : {Boot::kFresh, Boot::kSaved}) {
    const auto software = qemu_arguments({}, Accelerator::kTcg, boot);
    EXPECT_THAT(software, testing::IsSupersetOf({"q35,accel=tcg,memory-backend=memory", "max,-erms"}));
    const auto hardware = qemu_arguments({}, Accelerator::kKvm, boot);
    EXPECT_THAT(hardware, testing::IsSupersetOf({"q35,accel=kvm,memory-backend=memory", "host"}));
    EXPECT_THAT(hardware, testing::Not(testing::Contains(testing::HasSubstr("erms"))));
  }
}

}  // namespace
}  // namespace hutch::backend::vm
