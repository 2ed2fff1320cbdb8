// A lock that processes hold in turn: a file's bytes, each open of the file a holder. fcntl(2), F_OFD_SETLK.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::sys {

// The file of the lock, made with mode 0600 where it is absent. Open for writing: a lock for writing needs that, so a
// process that can only read the file cannot hold a turn.
Result<UniqueFd> open_turns(const std::string& path);

// Waits for the turn; ETIMEDOUT once `wait_max` is over. Processes that wait come before one that had the turn just
// now. The kernel gives the turn back when the last descriptor of this open is closed. Uses SIGALRM, of a process with
// one thread.
Status take_turn(int file, std::chrono::milliseconds wait_max);
void give_turn_back(int file);

}  // namespace hutch::sys
