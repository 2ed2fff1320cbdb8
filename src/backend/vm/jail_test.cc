// The tests of what a machine is told to be.
#include "backend/vm/jail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  limits.cpu_millis = 100;
  EXPECT_EQ(machine_size(limits)->cpus, 1U);
  limits.cpu_millis = 64'000;
  EXPECT_EQ(machine_size(limits)->cpus, 8U);
  EXPECT_THAT(qemu_arguments(*machine_size(limits)), testing::IsSupersetOf({"-smp", "8", "-m", "512M"}));
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

}  // namespace
}  // namespace hutch::backend::vm
