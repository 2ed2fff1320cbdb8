// A plan as a person reads it, and as one JSON object.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plan/plan.h"

namespace hutch::plan {

// Lines, each indented under a heading; names are printable.
std::string plan_text(const SandboxPlan& plan);

// One object, without a line end; absent limits are null. Bytes that are no UTF-8 are replaced.
std::string plan_json(const SandboxPlan& plan);

// One step as a line of plan_text: "read-only  /usr".
std::string step_text(const MountStep& step);

// "none", "host", "gateway".
std::string_view network_name(NetworkKind kind);

// "512M", "1.5G", "1000": what parse_size would read.
std::string size_text(std::uint64_t bytes);

}  // namespace hutch::plan
