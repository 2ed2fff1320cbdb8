// A policy in a few words: the status line, and the lines that are shown above everything that changes it.
#pragma once

#include <string>
#include <vector>

#include "policy/policy.h"
#include "service/common/load_policy.h"

namespace hutch::service {

// "🔒 Sandbox: 3 domains, 2 write paths", or "Sandbox: disabled".
std::string status_line(const policy::Policy& policy);

enum class Colour { kPlain, kTerminal };

// The same, red where the sandbox is disabled.
std::string status_line(const policy::Policy& policy, Colour colour);

// {"enabled", "line", "policy", "domains", "write_paths"} with a line end.
std::string status_json(const LoadedPolicy& loaded);

// Which policy it is, and its lists, a row each. As they are: a value may hold anything that a path may.
struct SummaryRow {
  std::string name;
  std::string value;
};
std::vector<SummaryRow> summary_rows(const LoadedPolicy& loaded);

// The same as lines for a terminal.
std::string summary_text(const LoadedPolicy& loaded);

}  // namespace hutch::service
