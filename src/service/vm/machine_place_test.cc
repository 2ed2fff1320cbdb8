// Which settings of machines wait for a start.
#include "service/vm/machine_place.h"

#include <gtest/gtest.h>

namespace hutch::service {
namespace {

using Names = std::vector<std::string>;

TEST(PendingSettings, AreThoseThatDiffer) {
  const store::MachineSettings started;
  store::MachineSettings now;
  EXPECT_EQ(pending_settings(started, now, {}), Names());
  now.cpus = 4;
  now.memory_gb = 3;
  now.network = store::MachineSettings::Network::kNone;
  EXPECT_EQ(pending_settings(started, now, {}), (Names{"cpus", "memoryGB", "network"}));
}

TEST(PendingSettings, AreNoneWhereTheAgentsOwnLimitsHold) {
  const store::MachineSettings started;
  store::MachineSettings now;
  now.cpus = 4;
  now.memory_gb = 3;
  store::AgentLimits memory;
  memory.memory = "1G";
  EXPECT_EQ(pending_settings(started, now, memory), Names{"cpus"});
  store::AgentLimits cpus;
  cpus.cpus = "1";
  EXPECT_EQ(pending_settings(started, now, cpus), Names{"memoryGB"});
}

TEST(PendingSettings, WhenTheDaemonStartsThemIsNoMatterOfAMachine) {
  store::MachineSettings now;
  now.auto_start = false;
  EXPECT_EQ(pending_settings({}, now, {}), Names());
}

}  // namespace
}  // namespace hutch::service
