// hutch plugin and hutch skill.
#pragma once

#include "cli/options/host_arguments.h"

namespace hutch::cli {

// `second` of `check` where the recipe is read and nothing tried.
inline constexpr const char* kReadOnly = "read-only";

int plugin(const PluginArguments& arguments);
int skill(const SkillArguments& arguments);

}  // namespace hutch::cli
