// Finds out what a plan has to know of this machine and this caller. Cheap: a few calls, paid by every `hutch run`.
#pragma once

#include <string>

#include "base/result.h"
#include "host/state_dirs.h"
#include "plan/facts.h"

namespace hutch::host {

// All but the cgroup. What cannot be found out is an error: a home that is not known would not be hidden.
Result<plan::HostFacts> probe_facts();

// Hides `path`, a secret of the daemon that is not below hutch's own directories, from each sandbox that this user
// starts from now on, as those directories are hidden. One file at a time: the next call replaces it; an empty path
// hides no file. The runtime directory has to be there.
Status hide_own_file(const StateDirs& dirs, const std::string& path);

// Makes those of `facts.store_dirs` that are missing, with mode 0700, before a plan is made: what is not there cannot
// be hidden, and a sandbox could read what is put there later, or put its own policy there itself. One that this user
// may not make is no error, since no sandbox of this user could either.
Status make_store_directories(const plan::HostFacts& facts);

// How limits are held here: as dear as all the rest, so only for those who limit or show it.
void add_cgroup_facts(plan::HostFacts& facts);

// Canonical; "/nonexistent" where this user has none that can be used.
Result<std::string> home_directory();

}  // namespace hutch::host
