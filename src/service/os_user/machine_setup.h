// hutch network and hutch service: what the machine does for agents' users outside of their sandboxes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/setup/machine_setup.h"

namespace hutch::service {

// The steps, as root would do them now. An error where hutch itself could be changed by others: root is to run it.
Result<std::vector<plan::SetupStep>> network_init_plan(const std::vector<std::uint16_t>& ports);
Result<std::vector<plan::SetupStep>> network_deinit_plan();
// After a user came or went, where that file is there: the rules are by number.
Result<std::vector<plan::SetupStep>> network_again_plan();

// What hutch network apply does: the table of the kernel, and the sockets by which others would ask for names.
Status apply_network();

// `user` is an OS user of hutch's, for the agents of `person` (empty: root's). Code::kConflict where something runs as
// that user, or could have written the daemon's files.
Result<std::vector<plan::SetupStep>> service_init_plan(const std::string& user, const std::string& person);
Result<std::vector<plan::SetupStep>> service_deinit_plan(const std::string& user, const std::string& person);
// What hutch service check does: Code::kConflict where something runs as that user.
Status check_service_user(const std::string& user);
// As root would start the daemon by hand, where there is no unit.
Result<std::string> service_start(const std::string& user);

}  // namespace hutch::service
