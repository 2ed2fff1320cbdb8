// The part of a SandboxPlan that a guest needs, as bytes.
#pragma once

#include "plan/plan.h"
#include "wire/codec.h"

namespace hutch::wire {

// Not written: limits, environment, cwd, project and notes, which the host alone uses.
void write_plan(Writer& out, const plan::SandboxPlan& plan);
plan::SandboxPlan read_plan(Reader& in);

}  // namespace hutch::wire
