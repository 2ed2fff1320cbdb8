// hutch network and hutch service: what the machine does for agents' users outside of their sandboxes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/machine_setup.h"

namespace hutch::service {

// The steps, as root would do them now. An error where hutch itself could be changed by others: root is to run it.
Result<std::vector<plan::SetupStep>> network_init_plan(const std::vector<std::uint16_t>& ports);
Result<std::vector<plan::SetupStep>> network_deinit_plan();
// After a user came or went, where that file is there: the rules are by number.
Result<std::vector<plan::SetupStep>> network_again_plan();

// What hutch network apply does: the table of the kernel, and the sockets by which others would ask for names.
Status apply_network();

// `user` is an OS user of hutch's. Code::kUnsupported without systemd.
Result<std::vector<plan::SetupStep>> service_init_plan(const std::string& user);
Result<std::vector<plan::SetupStep>> service_deinit_plan(const std::string& user);

}  // namespace hutch::service
