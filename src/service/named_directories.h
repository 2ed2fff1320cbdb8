// Absent directories of the person's home that --allow-write names.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/facts.h"
#include "service/prepare.h"

namespace hutch::service {

// Makes each directory (mode 0700, with its absent parents) and returns their paths. Only below the home, and only if
// the sandbox cannot make the directory itself. An error if the path goes through a link or another user's directory.
Result<std::vector<std::string>> make_named_directories(const Prepared& prepared, const plan::HostFacts& facts);

}  // namespace hutch::service
