// What hutch init and hutch network init would do on macOS: the same steps as commands of its own tools. Untested on
// macOS: what is made here is held by golden tests alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/setup/os_user.h"

namespace hutch::plan {

// As macOS calls the users of services: "_hutch", "_agent-bob".
std::string macos_user(std::string_view name);

// `name` as for init_steps (plan/setup/os_user.h); of the facts there are no lists of cron and at.
std::vector<SetupStep> macos_init_steps(const std::string& name, const OsUserFacts& facts);
std::vector<SetupStep> macos_deinit_steps(const std::string& name, const OsUserFacts& facts, Homes homes);

// In an anchor of hutch's own below Apple's, which the machine's rules evaluate already: none of others' is touched.
// pf.conf(5) knows the user of TCP and UDP alone.
inline constexpr std::string_view kPfAnchor = "com.apple/hutch";
inline constexpr std::string_view kPfFile = "/etc/hutch-helper/pf.conf";
std::string pf_rules(const std::vector<std::string>& users, const std::vector<std::uint16_t>& ports);
// `users` by their names on Linux.
std::vector<SetupStep> macos_network_init_steps(const std::vector<std::string>& users,
                                                const std::vector<std::uint16_t>& ports);
std::vector<SetupStep> macos_network_deinit_steps();

}  // namespace hutch::plan
