// hutch doctor --backend: what a sandbox of a new agent can do on this machine, by trying.
#pragma once

#include <string>

#include "service/common/request.h"

namespace hutch::cli {

// Makes an agent of that backend, runs each check in its sandbox, and removes it. 0 when all passed, 1 when one did
// not, 125 when nothing could be tried.
int diagnose(policy::BackendKind backend, service::OutputForm form);

}  // namespace hutch::cli
