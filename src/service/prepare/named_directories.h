// Absent directories of the person's home that --allow-write names, and those in which a preset's program keeps its
// state.
#pragma once

#include <functional>

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/facts.h"
#include "service/prepare/prepare.h"

namespace hutch::service {

// Makes each directory (mode 0700, with its absent parents) and returns their paths. Only below the home, and only if
// the sandbox cannot make the directory itself. An error if the path goes through a link or another user's directory.
Result<std::vector<std::string>> make_named_directories(const Prepared& prepared, const plan::HostFacts& facts);

// Makes the absent state directories of the preset that `typed` names; `tell` hears of them before. False if none is
// made: there is no such preset, all exist, or a way leads through a link or another user's directory.
Result<bool> make_state_directories(const std::string& typed, const Prepared& prepared, const plan::HostFacts& facts,
                                    const std::function<void(const std::string&)>& tell);

}  // namespace hutch::service
