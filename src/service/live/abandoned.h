// What a daemon that was killed had begun: it ended with the daemon, and the record says so afterwards.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "store/record.h"

namespace hutch::service {

// An end for every run of an agent's that has a start and none, in the order of the starts.
std::vector<store::Record> ends_of_abandoned(const std::vector<store::Record>& records, store::Time now);

// Appends them to the spool in `directory`. For a daemon that has started nothing yet: what runs has no end either.
Status end_abandoned(const std::string& directory);

}  // namespace hutch::service
