// Rules about "/", and about what the kernel has there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/facts.h"
#include "policy/rules.h"

namespace hutch::host {

// denyRead "/" is about everything that "/" holds; the sandbox has its own /proc, /sys and /dev.
void spread_root_denies(std::vector<policy::Rule>& rules, const std::vector<plan::RootEntry>& root);

// Which of /proc, /sys and /dev the path lies in.
std::optional<std::string> kernel_place(std::string_view path);

// /proc, /sys and /dev are never the host's: an entry about them holds already, or cannot hold.
Status check_kernel_place(const policy::Rule& rule);

}  // namespace hutch::host
