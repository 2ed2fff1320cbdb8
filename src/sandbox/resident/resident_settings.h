// The parts of a persistent sandbox, and the callbacks that report its changes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "backend/backend.h"
#include "base/result.h"
#include "host/machine/cgroup.h"
#include "sandbox/io/console.h"
#include "sandbox/io/network.h"
#include "sandbox/resident/process.h"
#include "sandbox/resident/resident_process.h"
#include "sandbox/run/access_desk.h"

namespace hutch::sandbox {

// Whether anything runs in the sandbox besides its own programs and the command in question; file servers count. hutch
// does not see processes of containers and of VMs.
enum class Others { kNone, kRun };

// kMaybe: of commands, most of which change nothing.
enum class Changes { kMaybe, kSurely };

// Of a persistent sandbox at this moment. Any thread may ask.
struct Surroundings {
  std::function<Others()> others;
  // Whether before_first_change will come before anything in the sandbox changes a file.
  std::function<bool()> announces_change;
};

struct ResidentParts {
  backend::Instance instance;
  std::shared_ptr<Questions> questions{};  // absent if nobody is asked
  std::unique_ptr<Network> network{};      // absent if no gateway has its connections
  std::optional<host::Cgroup> cgroup{};
  AccessRules access_rules{};  // for a plan with a supervisor
  JudgeSocket judge_socket{};  // absent: no host socket is connected to
  FileJudge files{};
  std::shared_ptr<Console> console{};  // if the instance has a console: where its output goes
  std::uint64_t killed_for_memory = 0;  // processes that the memory limit had ended at the last check
};

struct ResidentSettings {
  // Starts the guest. The thread that keeps the sandbox calls this, because a guest dies with the thread that started
  // it (PR_SET_PDEATHSIG, prctl(2)).
  std::function<Result<ResidentParts>()> begin;
  std::function<void(const Refusal& refusal)> on_refusal{};
  // Called on the thread that keeps the sandbox, for processes that users see.
  std::function<void(const Process& process)> on_process_start{};
  std::function<void(const Process& process, const ProcessEnd& end)> on_process_end{};
  // Called in pairs. before_change: before a process starts, or a file server changes files, on the thread that wants
  // it. after_change: once that has ended, or could not start, and before anybody knows it; it returns whether others
  // may still change something.
  std::function<void(Changes changes, const Surroundings& now)> before_change{};
  std::function<Others(const Surroundings& now)> after_change{};
  // Called on the thread that keeps the sandbox, where Surroundings says so.
  std::function<void()> before_first_change{};
  // Called on the thread that keeps the sandbox, at most a second after everything that a change left running has
  // ended.
  std::function<void()> on_quiet{};
  // Called once, at the end, on the thread that keeps the sandbox: the reason, or nothing if the sandbox was asked to
  // end.
  std::function<void(const std::optional<Error>& reason)> on_end{};
  // The next number of a command, never used twice; without this they count from 1 in each sandbox.
  std::function<std::uint32_t()> next_number{};
  std::stop_token stop{};  // of the start: nobody waits for it any more
};

}  // namespace hutch::sandbox
