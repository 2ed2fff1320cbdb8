// Makes and removes the OS users of agents: hutch init, hutch deinit.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/setup/os_user.h"
#include "plan/setup/os_user_numbers.h"

namespace hutch::service {

// What would be done now for that user. `name` is plan::kCommonUser or of plan::os_user_name.
Result<std::vector<plan::SetupStep>> init_plan(const std::string& name);
Result<std::vector<plan::SetupStep>> deinit_plan(const std::string& name, plan::Homes homes);

// Of kNumbersFile: those of users that are there, and that were.
Result<std::vector<plan::GivenNumber>> given_numbers();

// What of that user is there.
Result<plan::OsUserFacts> os_user_facts(const std::string& name);

// The numbers of the users that are to be made: those of a home that was kept, else ones that no agents' user had
// before. Code::kConflict where the number of a kept home is another user's by now.
Status settle_numbers(const std::string& name, plan::OsUserFacts& facts);

// Its files would be left to whoever is that user next.
Status check_is_no_daemons(const std::string& name);
// Code::kConflict where they are to be removed and something is mounted in one of them.
Status check_may_go(const std::vector<std::string>& places, plan::Homes homes);

// What was said of the network (hutch network init) holds for who is a user from then on.
Result<std::vector<plan::SetupStep>> with_network(std::vector<plan::SetupStep> steps);

// Each step in turn, told before it is done; the first that fails ends it, with its command in the error. What was done
// until then stays, and doing it again goes on from there. Code::kPermissionDenied for anyone but root.
Status run_steps(const std::vector<plan::SetupStep>& steps, const std::function<void(const plan::SetupStep&)>& tell);

}  // namespace hutch::service
