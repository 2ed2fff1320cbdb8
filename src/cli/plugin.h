// hutch plugin and hutch skill.
#pragma once

#include "cli/host_arguments.h"

namespace hutch::cli {

int plugin(const PluginArguments& arguments);
int skill(const SkillArguments& arguments);

}  // namespace hutch::cli
