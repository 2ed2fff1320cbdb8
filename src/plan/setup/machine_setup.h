// The steps of hutch network init and hutch service init: what a machine does for agents' users outside of sandboxes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/setup/os_user.h"

namespace hutch::plan {

enum class Systemd { kHere, kAbsent };

// Whether it is there says that agents' users have no network outside of their sandboxes; a line for each port of the
// loopback that they have all the same.
inline constexpr std::string_view kNetworkFile = "/etc/hutch-helper/network";
inline constexpr std::string_view kNetworkUnit = "/etc/systemd/system/hutch-network.service";

// Makes the rules of the kernel what that file and the users of the machine say. `hutch` is its path.
SetupStep apply_network_step(const std::string& hutch);
std::vector<SetupStep> network_init_steps(const std::string& hutch, const std::vector<std::uint16_t>& ports,
                                          Systemd systemd);
std::vector<SetupStep> network_deinit_steps(const std::string& hutch, Systemd systemd);
std::string network_unit(std::string_view hutch);
// What is no port in there is an error.
Result<std::vector<std::uint16_t>> read_network_file(std::string_view text);

// The daemon as that OS user.
struct ServiceFacts {
  std::string user;
  std::uint32_t number = 0;  // 0: there is no such user any more
  std::string person{};  // whose agents it is for; empty: root's
  std::string hutch{};   // its path
  Systemd systemd = Systemd::kAbsent;
  bool has_unit = false;
  bool has_files = false;
};

// The marker is the first that comes and the last that goes: what is the user then was it before, and is looked for
// after the one and before the other. Its files are root's while there is none.
std::vector<SetupStep> service_init_steps(const ServiceFacts& facts);
std::vector<SetupStep> service_deinit_steps(const ServiceFacts& facts);
std::string service_unit(const std::string& user, std::string_view hutch);
// What starts it where there is no systemd, for root's shell.
std::string service_command(const ServiceFacts& facts);

}  // namespace hutch::plan
