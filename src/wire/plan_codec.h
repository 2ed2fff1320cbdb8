// The part of a SandboxPlan that a guest needs, as bytes.
#pragma once

#include "plan/plan.h"
#include "wire/codec.h"

namespace hutch::wire {

// Not written: limits, environment, cwd, project and notes, which the host alone uses.
inline constexpr std::size_t kStepBytesMin = 1 + 4 + 4 + 1 + 1 + 8 + 8 + 4 + 8 + 4;
void write_step(Writer& out, const plan::MountStep& step);
plan::MountStep read_step(Reader& in);
void write_plan(Writer& out, const plan::SandboxPlan& plan);
plan::SandboxPlan read_plan(Reader& in);

}  // namespace hutch::wire
