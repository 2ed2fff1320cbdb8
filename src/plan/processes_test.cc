// The default limit of processes: on which machines there is one.
#include "plan/processes.h"

#include <gtest/gtest.h>

namespace hutch::plan {
namespace {

HostFacts machine(std::uint32_t uid, const char* kernel) {
  HostFacts facts;
  facts.uid = uid;
  facts.kernel = kernel;
  return facts;
}

TEST(Processes, AreLimitedWhereAUsersOwnAreNotCounted) {
  for (const char* kernel : {"5.14.0", "5.15.0-91-generic", "6.1.0-13-amd64", "10.0"}) {
    EXPECT_EQ(processes_default(machine(1000, kernel), Stay::kForOneCommand), kProcessesDefault) << kernel;
  }
  for (const char* kernel : {"5.13.19", "4.19.0-25-amd64", "5", "5.", "", "unknown"}) {
    EXPECT_EQ(processes_default(machine(1000, kernel), Stay::kForMany), 0U) << kernel;
  }
}

TEST(Processes, OfRootAreLimitedWhereItIsWorthACgroup) {
  EXPECT_EQ(processes_default(machine(0, "4.19.0"), Stay::kForMany), kProcessesDefault);
  EXPECT_EQ(processes_default(machine(0, "6.1.0"), Stay::kForOneCommand), 0U);
}

TEST(Processes, AreAHalfOfTheUsersWhereThoseAreFew) {
  HostFacts facts = machine(1000, "6.1.0");
  facts.process_limits = {{6, 100, 3000}};
  EXPECT_EQ(processes_default(facts, Stay::kForOneCommand), 1500U);
  facts.process_limits = {{6, ~0ULL, ~0ULL}};
  EXPECT_EQ(processes_default(facts, Stay::kForOneCommand), kProcessesDefault);
}

}  // namespace
}  // namespace hutch::plan
