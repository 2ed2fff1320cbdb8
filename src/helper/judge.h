// What hutch-helper makes of what it was asked: pure, since it is all that stands between a person and root.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/machine/account.h"
#include "plan/plan.h"
#include "plan/setup/os_user_places.h"
#include "wire/helper.h"

namespace hutch::helper {

// What the machine has, as far as the plan names it.
struct Machine {
  std::function<bool(std::string_view)> is_directory;
  std::vector<plan::TrustStore> stores;
  std::string guest_program{};  // canonical
};

// The plan that root applies. Its mounts, names and ids are the helper's own; of what was asked there are ports,
// addresses, sizes, certificates and the filter, each within what a guest takes.
Result<plan::SandboxPlan> plan_for(const wire::HelperStart& asked, const host::OsUser& user, const Machine& machine);

// Of the same version, with a name that an agent can have: it becomes a word of a command of root's.
Status check_wish(const wire::HelperMakeUser& asked);

}  // namespace hutch::helper
