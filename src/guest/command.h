// Starting one command in the sandbox.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "wire/message.h"

namespace hutch::guest {

// A command that runs.
struct Command {
  std::uint32_t number = 0;          // as the host calls it
  pid_t pid = -1;                    // the child of this process that ends when the command does
  pid_t group = -1;                  // the process group that signals go to
  std::optional<UniqueFd> stops;     // a byte for each time that a terminal's command was stopped
  int told = 0;                      // the last signal that it and all below it were sent
  bool ending = false;               // what it leaves behind is killed
  std::vector<pid_t> tree{};         // while it is ending: what was seen of all that it started
};

struct StartedCommand {
  Command command;
  std::optional<UniqueFd> terminal_master;
};

// Who adopts what a command leaves behind while it runs. The command itself can be told from others by that; it is
// given back to the init once the command has ended (PR_SET_CHILD_SUBREAPER survives execve(2), prctl(2)).
enum class Orphans { kOfInit, kOfCommand };

// `streams` are 0, 1 and 2 of the command, or empty when it gets its own terminal. `limits` are the plan's. An error is
// hutch's own failure, before the program ran.
Result<std::variant<StartedCommand, wire::NotExecuted>> start_command(const wire::Exec& exec,
                                                                      std::vector<UniqueFd> streams, Orphans orphans,
                                                                      std::span<const plan::ProcessLimit> limits);

}  // namespace hutch::guest
