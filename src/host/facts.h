// Finds out what a plan has to know of this machine and this caller. Cheap: a few calls, paid by every `hutch run`.
#pragma once

#include <string>

#include "base/result.h"
#include "plan/facts.h"

namespace hutch::host {

// All but the cgroup. What cannot be found out is an error: a home that is not known would not be hidden.
Result<plan::HostFacts> probe_facts();

// How limits are held here: as dear as all the rest, so only for those who limit or show it.
void add_cgroup_facts(plan::HostFacts& facts);

// Canonical; "/nonexistent" where this user has none that can be used.
Result<std::string> home_directory();

}  // namespace hutch::host
