// How many processes that have ended a sandbox that stays remembers.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "sandbox/resident/process.h"

namespace hutch::sandbox {

// Takes those of the last one's kind away that are too many, or whose output is: of those whose output is kept, or of
// the others.
std::vector<std::shared_ptr<Process>> take_forgotten(std::deque<std::shared_ptr<Process>>& ended);

}  // namespace hutch::sandbox
