// A policy in a few words: the status line, and the lines that are shown above everything that changes it.
#pragma once

#include <string>

#include "policy/policy.h"
#include "service/load_policy.h"

namespace hutch::service {

// "🔒 Sandbox: 3 domains, 2 write paths", or "Sandbox: disabled".
std::string status_line(const policy::Policy& policy);

enum class Colour { kPlain, kTerminal };

// The same, red where the sandbox is disabled.
std::string status_line(const policy::Policy& policy, Colour colour);

// {"enabled", "line", "policy", "domains", "write_paths"} with a line end.
std::string status_json(const LoadedPolicy& loaded);

// Which policy it is, and its lists, a line each.
std::string summary_text(const LoadedPolicy& loaded);

}  // namespace hutch::service
