// One command from its start to its end: streams, signals, timeouts, the guest's messages.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"
#include "plan/plan.h"
#include "sandbox/io/network.h"
#include "sandbox/io/outcome.h"
#include "sandbox/io/streams.h"
#include "sandbox/run/access_desk.h"

namespace hutch::sandbox {

// What comes in on a control descriptor; `handle` is called when it is readable, and says whether to go on watching.
struct Watch {
  int fd = -1;
  std::function<Result<bool>()> handle;
};

struct CommandRequest {
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::string cwd;
  std::uint64_t processes_max = 0;      // as wire::Exec has them
  std::uint64_t address_space_max = 0;
  std::uint16_t creation_mask = 0;
  std::chrono::milliseconds timeout{0};
  std::chrono::milliseconds idle_timeout{0};
};

// Signals of this process are blocked from here on: what arrives is passed on to the command.
Result<UniqueFd> take_signals();

// Runs the command in the instance until nothing of it is left. An error is hutch's own failure; how the command fared,
// "not found" included, is the outcome.
struct Supervision {
  backend::Instance& instance;
  Streams& streams;
  int signals = -1;
  Watch control{};
  Watch clients{};  // of the run's socket
  std::function<void(const Refusal& refusal)> on_refusal{};  // of each kind of refused call once
  // The rule by which a path is not there in the sandbox; empty when none hides it.
  std::function<std::string(const std::string& path)> rule_hiding{};
  AccessRules access{};  // of a plan that has a supervisor
  JudgeSocket judge_socket{};  // absent: none of the host's is connected to
  FileJudge files{};
  AccessSupervisor::BeforeChange before_change{};  // as of AccessSupervisor
  Network* network = nullptr;  // absent where no gateway has a sandbox's connections
  Questions* questions = nullptr;  // absent where nobody is asked
};
Result<Outcome> supervise(Supervision supervision, const CommandRequest& request);

}  // namespace hutch::sandbox
