// The init of the sandbox: runs the commands the host asks for, reaps, reports.
#pragma once

#include "base/result.h"
#include "plan/plan.h"
#include "wire/connection.h"

namespace hutch::guest {

// Serves until the command has ended and everything that it started is gone, or the host has.
Status run_init(wire::Connection& host, const plan::SandboxPlan& plan, wire::Isolation isolation);

}  // namespace hutch::guest
