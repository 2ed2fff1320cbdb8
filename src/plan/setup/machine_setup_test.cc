// The steps of hutch network init and hutch service init.
#include "plan/setup/machine_setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"

namespace hutch::plan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> machine_lines(const std::vector<SetupStep>& steps) {
  std::vector<std::string> lines;
  for (const SetupStep& step : steps) lines.push_back(join(step.command, " "));
  return lines;
}

TEST(NetworkSetup, RulesAreThereBeforeTheUnitIs) {
  const auto lines = machine_lines(network_init_steps("/usr/bin/hutch", {5432}, Systemd::kHere));
  EXPECT_THAT(lines[1], HasSubstr("/etc/hutch-helper/network 5432\n"));
  EXPECT_EQ(lines[2], "/usr/bin/hutch network apply");
  EXPECT_EQ(lines.back(), "systemctl enable hutch-network.service");
  EXPECT_THAT(network_unit("/usr/bin/hutch"), HasSubstr("\nExecStart=/usr/bin/hutch network apply\n"));
}

TEST(NetworkSetup, WithoutSystemdThereIsNoUnit) {
  EXPECT_THAT(machine_lines(network_init_steps("/usr/bin/hutch", {}, Systemd::kAbsent)),
              Not(Contains(HasSubstr("systemctl"))));
  EXPECT_THAT(machine_lines(network_deinit_steps("/usr/bin/hutch", Systemd::kAbsent)),
              ElementsAre("rm -f -- /etc/hutch-helper/network", "/usr/bin/hutch network apply"));
}

TEST(NetworkSetup, ItsFileHasPortsAlone) {
  EXPECT_THAT(read_network_file("").value(), ElementsAre());
  EXPECT_THAT(read_network_file("80\n5432\n").value(), ElementsAre(80, 5432));
  for (const char* wrong : {"0", "65536", "80 81", "-1", "http"}) EXPECT_FALSE(read_network_file(wrong)) << wrong;
}

ServiceFacts of_carol(Systemd systemd) {
  return {.user = "hutch-carol",
          .number = 990,
          .person = "carol",
          .hutch = "/usr/bin/hutch",
          .systemd = systemd,
          .has_unit = systemd == Systemd::kHere,
          .has_files = true};
}

TEST(ServiceSetup, TheDaemonIsThatUser) {
  const auto lines = machine_lines(service_init_steps(of_carol(Systemd::kHere)));
  const auto unit = std::ranges::find_if(lines, [](const auto& line) { return line.contains("User=hutch-carol\n"); });
  ASSERT_NE(unit, lines.end());
  EXPECT_THAT(*unit, HasSubstr("\nEnvironment=HOME=/var/lib/hutch-daemon-hutch-carol\n"));
  EXPECT_EQ(lines.back(), "systemctl enable --now hutch-daemon-hutch-carol.service");
}

TEST(ServiceSetup, NothingElseIsThatUserBetweenTheMarkerAndItsEnd) {
  for (const Systemd systemd : {Systemd::kHere, Systemd::kAbsent}) {
    const auto lines = machine_lines(service_init_steps(of_carol(systemd)));
    EXPECT_THAT(lines[2], HasSubstr("/etc/hutch-helper/daemons/990"));
    EXPECT_EQ(lines[3], "/usr/bin/hutch service check --for carol");
  }
  EXPECT_THAT(machine_lines(service_deinit_steps(of_carol(Systemd::kHere))),
              ElementsAre("systemctl disable --now hutch-daemon-hutch-carol.service",
                          "rm -f -- /etc/systemd/system/hutch-daemon-hutch-carol.service", "systemctl daemon-reload",
                          "/usr/bin/hutch service check --for carol",
                          "install -d -m 0700 -o root -g root -- /var/lib/hutch-daemon-hutch-carol",
                          "rm -f -- /etc/hutch-helper/daemons/990"));
}

TEST(ServiceSetup, DeinitGoesOnWithWhatIsLeft) {
  ServiceFacts left = of_carol(Systemd::kHere);
  left.has_unit = left.has_files = false;
  EXPECT_EQ(machine_lines(service_deinit_steps(left)).front(),
            "rm -f -- /etc/systemd/system/hutch-daemon-hutch-carol.service");
  left.number = 0;
  EXPECT_EQ(machine_lines(service_deinit_steps(left)).back(), "systemctl daemon-reload");
}

TEST(ServiceSetup, WithoutSystemdRootIsToldWhatStartsIt) {
  const auto lines = machine_lines(service_init_steps(of_carol(Systemd::kAbsent)));
  EXPECT_EQ(lines.back(), "install -d -m 0700 -o hutch-carol -g hutch-carol -- /var/lib/hutch-daemon-hutch-carol");
  EXPECT_THAT(lines, Not(Contains(HasSubstr("systemctl"))));
  EXPECT_THAT(service_command(of_carol(Systemd::kAbsent)),
              HasSubstr(" HOME=/var/lib/hutch-daemon-hutch-carol XDG_RUNTIME_DIR=/run/hutch-daemon-hutch-carol "
                        "/usr/bin/hutch serve --idle never"));
}

}  // namespace
}  // namespace hutch::plan
