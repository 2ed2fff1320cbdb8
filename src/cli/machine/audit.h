// hutch audit: every record, filtered.
#pragma once

#include "cli/options/arguments.h"

namespace hutch::cli {

// The exit code: 0, or 125 after one line on standard error.
int audit(const AuditArguments& arguments);

}  // namespace hutch::cli
