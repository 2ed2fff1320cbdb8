// Starting one command in the sandbox.
#pragma once

#include <sys/types.h>

#include <optional>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "plan/bpf.h"
#include "wire/message.h"

namespace hutch::guest {

// A command that runs.
struct Command {
  pid_t pid = -1;                    // the child of this process that ends when the command does
  pid_t group = -1;                  // the process group that signals go to
  std::optional<UniqueFd> listener;  // where its calls that the filter hands over arrive
  std::optional<UniqueFd> stops;     // a byte for each time that a terminal's command was stopped
};

struct StartedCommand {
  Command command;
  std::optional<UniqueFd> terminal_master;
};

// `streams` are 0, 1 and 2 of the command, or empty when it gets a terminal of its own. An error is hutch's own
// failure, before the program ran.
Result<std::variant<StartedCommand, wire::NotExecuted>> start_command(const wire::Exec& exec,
                                                                      std::vector<UniqueFd> streams,
                                                                      const plan::bpf::Program& filter);

}  // namespace hutch::guest
