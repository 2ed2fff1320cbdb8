// What hutch init --for does for a person who is not root, and deinit --for takes back.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/setup/person_setup.h"

namespace hutch::service {

// How that person's user is called, who may be no more.
Result<std::string> os_user_of_person(const std::string& person, const std::string& agent);

// `person` is a name of this machine's, or a number; `agent` may be empty. Errors: root, nobody, an OS user of that
// name that is not hutch's or is somebody else's, a hutch-helper that others than root may change, and a machine that
// has nothing to start it with.
Result<std::vector<plan::SetupStep>> init_person_plan(const std::string& person, const std::string& agent);
// How many users that person has besides the one for all agents.
std::size_t users_of_agents(const std::string& person);
Result<std::vector<plan::SetupStep>> deinit_person_plan(const std::string& person, const std::string& agent,
                                                        plan::Homes homes);

}  // namespace hutch::service
