// The steps of hutch network init and hutch service init.
#include "plan/machine_setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace hutch::plan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines_of(const std::vector<SetupStep>& steps) {
  std::vector<std::string> lines;
  for (const SetupStep& step : steps) lines.push_back(join(step.command, " "));
  return lines;
}

TEST(NetworkSetup, RulesAreThereBeforeTheUnitIs) {
  const auto lines = lines_of(network_init_steps("/usr/bin/hutch", {5432}, Systemd::kHere));
  EXPECT_THAT(lines[1], HasSubstr("/etc/hutch-helper/network 5432\n"));
  EXPECT_EQ(lines[2], "/usr/bin/hutch network apply");
  EXPECT_EQ(lines.back(), "systemctl enable hutch-network.service");
  EXPECT_THAT(network_unit("/usr/bin/hutch"), HasSubstr("\nExecStart=/usr/bin/hutch network apply\n"));
}

TEST(NetworkSetup, WithoutSystemdThereIsNoUnit) {
  EXPECT_THAT(lines_of(network_init_steps("/usr/bin/hutch", {}, Systemd::kAbsent)),
              Not(Contains(HasSubstr("systemctl"))));
  EXPECT_THAT(lines_of(network_deinit_steps("/usr/bin/hutch", Systemd::kAbsent)),
              ElementsAre("rm -f -- /etc/hutch-helper/network", "/usr/bin/hutch network apply"));
}

TEST(NetworkSetup, ItsFileHasPortsAlone) {
  EXPECT_THAT(read_network_file("").value(), ElementsAre());
  EXPECT_THAT(read_network_file("80\n5432\n").value(), ElementsAre(80, 5432));
  for (const char* wrong : {"0", "65536", "80 81", "-1", "http"}) EXPECT_FALSE(read_network_file(wrong)) << wrong;
}

TEST(ServiceSetup, TheDaemonIsThatUser) {
  const auto lines = lines_of(service_init_steps("hutch-carol", "/usr/bin/hutch"));
  EXPECT_THAT(lines[0], HasSubstr("User=hutch-carol\n"));
  EXPECT_THAT(lines[0], HasSubstr("\nEnvironment=HOME=/var/lib/hutch-daemon-hutch-carol\n"));
  EXPECT_EQ(lines.back(), "systemctl enable --now hutch-daemon-hutch-carol.service");
  EXPECT_EQ(lines_of(service_deinit_steps("hutch-carol"))[0],
            "systemctl disable --now hutch-daemon-hutch-carol.service");
}

}  // namespace
}  // namespace hutch::plan
