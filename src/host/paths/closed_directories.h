// Finds directories that root's sandboxes cannot enter, though root can.
#pragma once

#include <vector>

#include "base/result.h"
#include "host/paths/looker.h"
#include "policy/rules.h"

namespace hutch::host {

// A rule that denies something below a directory that a sandbox of root's cannot enter is about all of that directory
// from here on: nothing can be mounted below it. Rules stay as they are if another rule gives the sandbox a way there.
// A user namespace that has root's id alone gives its root no right over other people's files: CAP_DAC_OVERRIDE holds
// for files whose owner and group the namespace has (user_namespaces(7)). ACLs are not looked at.
Status raise_denies(std::vector<policy::Rule>& rules, Looker& looker);

}  // namespace hutch::host
