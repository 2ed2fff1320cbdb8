// What a sandbox that stays knows of a process that runs in it, and what its start and its end come to.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/io/process_request.h"
#include "sandbox/resident/process.h"
#include "wire/message.h"

namespace hutch::sandbox {

struct TrackedProcess {  // one that runs
  std::shared_ptr<Process> process;
  std::chrono::milliseconds timeout{0};
  wire::TerminalUse terminal = wire::TerminalUse::kNone;
  ProcessRequest::Shown shown = ProcessRequest::Shown::kYes;
  std::optional<Process::Clock::time_point> kill_at;
  std::vector<std::string> refusals{};  // since it began
  std::vector<std::string> refused_changes{};  // told only if it fails
  std::vector<std::pair<std::string, int>> refused_hosts{};
};

struct KeptPipe {  // a stream that is kept
  std::shared_ptr<Process> process;
  OutputStream stream;
  UniqueFd from;
};

// The streams of a command that are kept: its own ends, and what stays here.
struct KeptStreams {
  GivenStreams childs;
  std::vector<KeptPipe> pipes;
  UniqueFd input;  // the other end of its stdin, where that is written
};
enum class Input { kNone, kWritten };  // /dev/null, or by Process::write_input
Result<KeptStreams> open_kept_streams(const ProcessRequest& request, Input input);

// Of a terminal that has come: what is typed there is written by the process, what is shown comes from the pipe.
Result<KeptPipe> keep_terminal(const std::shared_ptr<Process>& process, UniqueFd master);

// What whoever comes after the end of the sandbox is told.
Error over_error(const std::optional<Error>& reason);

// Of a message to the guest: it has ended.
bool is_gone(const Error& error);

// For the guest to be ready, and for a command to be started.
inline constexpr std::chrono::milliseconds kStartWait{60'000};

// A message that breaks a rule would be the end of the guest, and of all that runs there.
Status check_sendable(const wire::Exec& exec);

ProcessEnd end_of_status(int raw, const Process& process);
ProcessEnd end_of_refusal(const wire::NotExecuted& refused);

}  // namespace hutch::sandbox
